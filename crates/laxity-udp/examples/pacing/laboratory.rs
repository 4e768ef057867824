//! Two hosts, and between them a bridge whose way to the receiver has a rate and a shallow buffer.

use std::error::Error;
use std::net::{IpAddr, UdpSocket};
use std::process::Command;
use std::time::Duration;

use laxity_linux::namespace::Namespace;

/// It is gone when this is dropped, with all that is in it.
pub struct Laboratory {
    sender: Namespace,
    receiver: Namespace,
    between: Namespace,
}

/// A datagram of 1200 bytes on the link, with the headers of UDP, IP and Ethernet.
const FRAME: u32 = 1_200 + 28 + 14;

impl Laboratory {
    /// `None` where that is not allowed, and then it says so.
    pub fn build() -> Result<Option<Laboratory>, Box<dyn Error>> {
        let between = match Namespace::new() {
            Ok(namespace) => namespace,
            Err(error) if error.is_permission() => {
                eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let [sender, receiver] = [("in", 1), ("out", 2)].map(|(name, last)| {
            let host = Namespace::new()?;
            between.veth(name, &host, "eth")?;
            host.address("eth", IpAddr::from([10, 0, 0, last]), 24)?;
            Ok::<_, Box<dyn Error>>(host)
        });
        between.bridge("bridge", &["in", "out"])?;
        let laboratory = Laboratory { sender: sender?, receiver: receiver?, between };
        laboratory.wait_until_it_carries()?;
        Ok(Some(laboratory))
    }

    /// A bridge takes a while to begin.
    fn wait_until_it_carries(&self) -> Result<(), Box<dyn Error>> {
        let (sending, receiving) = (self.sending()?, self.receiving()?);
        receiving.set_read_timeout(Some(Duration::from_millis(20)))?;
        for _ in 0..500 {
            sending.send_to(&[0], receiving.local_addr()?)?;
            if receiving.recv(&mut [0]).is_ok() {
                return Ok(());
            }
        }
        Err("nothing gets through the laboratory".into())
    }

    /// Gives the link a rate in bits a second, and a buffer of this many packets.
    pub fn limit(&self, rate: u64, packets: u32) -> Result<(), Box<dyn Error>> {
        let bytes = FRAME * packets;
        self.tc(&format!("qdisc replace dev out root tbf rate {rate}bit burst 3000 limit {bytes}"))
    }

    /// Takes the limit away.
    pub fn open(&self) -> Result<(), Box<dyn Error>> {
        self.tc("qdisc del dev out root")
    }

    /// A socket of the sender.
    pub fn sending(&self) -> Result<UdpSocket, Box<dyn Error>> {
        Ok(self.sender.run(|| UdpSocket::bind("10.0.0.1:0"))??)
    }

    /// A socket of the receiver.
    pub fn receiving(&self) -> Result<UdpSocket, Box<dyn Error>> {
        Ok(self.receiver.run(|| UdpSocket::bind("10.0.0.2:0"))??)
    }

    fn tc(&self, command: &str) -> Result<(), Box<dyn Error>> {
        let run = || Command::new("tc").args(command.split(' ')).output();
        let output = self.between.run(run)??;
        match output.status.success() {
            true => Ok(()),
            false => {
                Err(format!("tc {command}: {}", String::from_utf8_lossy(&output.stderr)).into())
            }
        }
    }
}
