// The page of a result, in a frame of its own: its styles are not this page's.

/**
 * Reports that run scripts of their own may do nothing to this page. One without may be looked
 * into, so that it is changed in place while one types, and stays where it was scrolled to.
 */
export class ReportFrame {
  private frame?: HTMLIFrameElement;
  /** Whether the frame may be looked into, and holds a report. */
  private isOpen = false;

  constructor(private readonly parent: HTMLElement) {}

  clear(): void {
    this.parent.replaceChildren();
    this.frame = undefined;
    this.isOpen = false;
  }

  show(page: string, title: string): void {
    const hasScripts = page.includes("<script");
    const shown = this.frame?.contentDocument?.body;
    if (!hasScripts && this.isOpen && shown && this.frame?.title === title) {
      return replace(shown, page);
    }
    this.clear();
    const frame = document.createElement("iframe");
    frame.title = title;
    frame.setAttribute("sandbox", hasScripts ? "allow-scripts" : "allow-same-origin");
    frame.srcdoc = page;
    frame.onload = () => {
      this.isOpen = this.frame === frame && !hasScripts;
    };
    this.frame = frame;
    this.parent.replaceChildren(frame);
  }
}

function replace(shown: HTMLElement, page: string): void {
  const next = new DOMParser().parseFromString(page, "text/html");
  shown.ownerDocument.head.replaceChildren(...next.head.childNodes);
  shown.replaceChildren(...next.body.childNodes);
}
