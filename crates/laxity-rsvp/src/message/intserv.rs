//! What the Integrated Services say within RSVP (RFC 2210, RFC 2215, RFC 2212).

use super::bytes::Reader;

/// Traffic: a token bucket, a peak and sizes of packets, headers of IP included (RFC 2215, 3.6).
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "RFC 2215 has these")]
pub struct Tspec {
    /// r: the rate of the bucket, in bytes per second.
    pub rate: f32,
    /// b: the size of the bucket, in bytes.
    pub bucket: f32,
    /// p: the peak rate, in bytes per second; infinite if there is none.
    pub peak: f32,
    /// m: the size that smaller packets count as, in bytes.
    pub least: u32,
    /// M: the largest packet, in bytes.
    pub most: u32,
}

/// What a receiver asks guaranteed service for (RFC 2212).
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "RFC 2212 has these")]
pub struct Rspec {
    /// R: the rate, in bytes per second.
    pub rate: f32,
    /// S: by how much longer the path may take than R makes it, in microseconds.
    pub slack: u32,
}

/// The service that is asked for.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "what is not guaranteed is all alike")]
pub enum Flowspec {
    /// Guaranteed service.
    Guaranteed {
        /// The traffic.
        tspec: Tspec,
        /// The rate and the slack.
        rspec: Rspec,
    },
    /// Any other service, such as controlled load.
    Other {
        /// Its number.
        service: u8,
        /// Its parameters: a multiple of four bytes.
        body: Vec<u8>,
    },
}

/// What a path offers (RFC 2210, 3.3).
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "RFC 2210 has these")]
pub struct Adspec {
    /// What every service has.
    pub general: General,
    /// What single services have.
    pub services: Vec<ServiceTerms>,
}

/// The default general parameters (RFC 2215).
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "RFC 2215 has these")]
pub struct General {
    /// Some node does not know the Integrated Services.
    pub is_broken: bool,
    /// Nodes that do.
    pub hops: u32,
    /// The least bandwidth of a link, in bytes per second.
    pub bandwidth: f32,
    /// The least latency, in microseconds; `u32::MAX` if it is not known.
    pub latency: u32,
    /// The largest packet, in bytes.
    pub mtu: u32,
}

/// What a path offers for one service.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "what is not guaranteed is all alike")]
pub enum ServiceTerms {
    /// Guaranteed service.
    Guaranteed(GuaranteedTerms),
    /// Any other one, passed on with its break bit set.
    Other {
        /// Its number.
        service: u8,
        /// Its parameters: a multiple of four bytes.
        body: Vec<u8>,
    },
}

/// The error terms of guaranteed service (RFC 2212): a node delays a flow with the rate R by no
/// more than C / R + D longer than a wire of that rate.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "RFC 2212 has these")]
pub struct GuaranteedTerms {
    /// Some node does not serve it.
    pub is_broken: bool,
    /// C of all nodes, in bytes.
    pub c_total: u32,
    /// D of all nodes, in microseconds.
    pub d_total: u32,
    /// C of the nodes since the flow was shaped last, in bytes.
    pub c_sum: u32,
    /// D of the nodes since the flow was shaped last, in microseconds.
    pub d_sum: u32,
    /// Other parameters, passed on as they are: number, flags, and a multiple of four bytes.
    pub others: Vec<(u8, u8, Vec<u8>)>,
}

/// Numbers of services and parameters.
const GENERAL: u8 = 1;
const GUARANTEED: u8 = 2;
const HOPS: u8 = 4;
const BANDWIDTH: u8 = 6;
const LATENCY: u8 = 8;
const MTU: u8 = 10;
const TSPEC: u8 = 127;
const RSPEC: u8 = 130;
const TERMS: [u8; 4] = [133, 134, 135, 136];
/// The bit of a service's header that says that some node does not have it.
const BREAK: u8 = 0x80;

impl Tspec {
    /// The object of a sender: one service without a name.
    pub(super) fn read_object(reader: &mut Reader<'_>) -> Option<Tspec> {
        let mut services = Services::read(reader)?;
        let (GENERAL, _, body) = services.next()?? else { return None };
        let mut parameters = Parameters(Reader::new(body));
        let (TSPEC, _, tspec) = parameters.next()?? else { return None };
        let is_all = parameters.next().is_none() && services.next().is_none();
        Tspec::read(tspec).filter(|_| is_all)
    }

    pub(super) fn write_object(&self, bytes: &mut Vec<u8>) {
        write_services(bytes, |bytes| {
            write_service(bytes, GENERAL, false, |bytes| self.write(bytes));
        });
    }

    fn read(body: &[u8]) -> Option<Tspec> {
        let mut reader = Reader::new(body);
        let (rate, bucket, peak) = (reader.f32()?, reader.f32()?, reader.f32()?);
        let tspec = Tspec { rate, bucket, peak, least: reader.u32()?, most: reader.u32()? };
        reader.is_empty().then_some(tspec)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let Tspec { rate, bucket, peak, least, most } = self;
        write_parameter(bytes, TSPEC, 0, |bytes| {
            for number in [rate, bucket, peak] {
                bytes.extend(number.to_be_bytes());
            }
            bytes.extend(least.to_be_bytes());
            bytes.extend(most.to_be_bytes());
        });
    }
}

impl Flowspec {
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Flowspec> {
        let mut services = Services::read(reader)?;
        let (service, _, body) = services.next()??;
        if services.next().is_some() {
            return None;
        }
        if service != GUARANTEED {
            return Some(Flowspec::Other { service, body: body.to_vec() });
        }
        let mut parameters = Parameters(Reader::new(body));
        let (TSPEC, _, tspec) = parameters.next()?? else { return None };
        let (RSPEC, _, rspec) = parameters.next()?? else { return None };
        let mut reader = Reader::new(rspec);
        let rspec = Rspec { rate: reader.f32()?, slack: reader.u32()? };
        let is_all = reader.is_empty() && parameters.next().is_none();
        let tspec = Tspec::read(tspec).filter(|_| is_all)?;
        Some(Flowspec::Guaranteed { tspec, rspec })
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        write_services(bytes, |bytes| match self {
            Flowspec::Guaranteed { tspec, rspec: Rspec { rate, slack } } => {
                write_service(bytes, GUARANTEED, false, |bytes| {
                    tspec.write(bytes);
                    write_parameter(bytes, RSPEC, 0, |bytes| {
                        bytes.extend(rate.to_be_bytes());
                        bytes.extend(slack.to_be_bytes());
                    });
                });
            }
            Flowspec::Other { service, body } => {
                write_service(bytes, *service, false, |bytes| bytes.extend(body));
            }
        });
    }
}

impl Adspec {
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Adspec> {
        let mut services = Services::read(reader)?;
        let (GENERAL, flags, body) = services.next()?? else { return None };
        let general = General::read(flags & BREAK != 0, body)?;
        let mut terms = Vec::new();
        for service in services {
            let (service, flags, body) = service?;
            terms.push(match service {
                GUARANTEED => {
                    ServiceTerms::Guaranteed(GuaranteedTerms::read(flags & BREAK != 0, body)?)
                }
                service => ServiceTerms::Other { service, body: body.to_vec() },
            });
        }
        Some(Adspec { general, services: terms })
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        write_services(bytes, |bytes| {
            let General { is_broken, hops, bandwidth, latency, mtu } = self.general;
            write_service(bytes, GENERAL, is_broken, |bytes| {
                let bandwidth = bandwidth.to_bits();
                for (number, value) in
                    [(HOPS, hops), (BANDWIDTH, bandwidth), (LATENCY, latency), (MTU, mtu)]
                {
                    write_parameter(bytes, number, 0, |bytes| bytes.extend(value.to_be_bytes()));
                }
            });
            for service in &self.services {
                match service {
                    ServiceTerms::Guaranteed(terms) => terms.write(bytes),
                    ServiceTerms::Other { service, body } => {
                        write_service(bytes, *service, true, |bytes| bytes.extend(body));
                    }
                }
            }
        });
    }

    /// The terms of guaranteed service, if the sender asked for them.
    pub fn guaranteed(&self) -> Option<&GuaranteedTerms> {
        self.services.iter().find_map(|service| match service {
            ServiceTerms::Guaranteed(terms) => Some(terms),
            ServiceTerms::Other { .. } => None,
        })
    }
}

impl General {
    fn read(is_broken: bool, body: &[u8]) -> Option<General> {
        let mut parameters = Parameters(Reader::new(body));
        let mut word = |wanted: u8| {
            let (number, _, value) = parameters.next()??;
            let value = u32::from_be_bytes(value.try_into().ok()?);
            (number == wanted).then_some(value)
        };
        let (hops, bandwidth) = (word(HOPS)?, f32::from_bits(word(BANDWIDTH)?));
        let (latency, mtu) = (word(LATENCY)?, word(MTU)?);
        let general = General { is_broken, hops, bandwidth, latency, mtu };
        parameters.next().is_none().then_some(general)
    }
}

impl GuaranteedTerms {
    fn read(is_broken: bool, body: &[u8]) -> Option<GuaranteedTerms> {
        let (mut terms, mut others) = ([None; 4], Vec::new());
        for parameter in Parameters(Reader::new(body)) {
            let (number, flags, value) = parameter?;
            match TERMS.iter().position(|term| *term == number) {
                Some(place) => {
                    terms[place] = Some(u32::from_be_bytes(value.try_into().ok()?));
                }
                None => others.push((number, flags, value.to_vec())),
            }
        }
        let [c_total, d_total, c_sum, d_sum] = terms;
        let (c_total, d_total) = (c_total?, d_total?);
        let (c_sum, d_sum) = (c_sum?, d_sum?);
        Some(GuaranteedTerms { is_broken, c_total, d_total, c_sum, d_sum, others })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let GuaranteedTerms { is_broken, c_total, d_total, c_sum, d_sum, others } = self;
        write_service(bytes, GUARANTEED, *is_broken, |bytes| {
            for (number, value) in TERMS.into_iter().zip([c_total, d_total, c_sum, d_sum]) {
                write_parameter(bytes, number, 0, |bytes| bytes.extend(value.to_be_bytes()));
            }
            for (number, flags, value) in others {
                write_parameter(bytes, *number, *flags, |bytes| bytes.extend(value));
            }
        });
    }
}

/// The fragments of an object, each with its number, flags and body; `None` for one that is cut
/// off.
struct Services<'a>(Reader<'a>);

impl<'a> Services<'a> {
    /// All that follows the header of the object, which is for the whole of it.
    fn read(reader: &mut Reader<'a>) -> Option<Services<'a>> {
        let [version, _reserved] = [reader.u8()?, reader.u8()?];
        let words = usize::from(reader.u16()?);
        let is_whole = version >> 4 == 0 && words * 4 == reader.rest().len();
        let body = reader.bytes(reader.rest().len())?;
        is_whole.then(|| Services(Reader::new(body)))
    }
}

impl<'a> Iterator for Services<'a> {
    type Item = Option<(u8, u8, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        next(&mut self.0)
    }
}

/// The parameters of a service, each with its number, flags and value; `None` for one that is cut
/// off.
struct Parameters<'a>(Reader<'a>);

impl<'a> Iterator for Parameters<'a> {
    type Item = Option<(u8, u8, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        next(&mut self.0)
    }
}

/// Services and parameters have the same form. What is cut off ends the list.
fn next<'a>(reader: &mut Reader<'a>) -> Option<Option<(u8, u8, &'a [u8])>> {
    if reader.is_empty() {
        return None;
    }
    let item = (|| {
        let [number, flags] = [reader.u8()?, reader.u8()?];
        let words = usize::from(reader.u16()?);
        Some((number, flags, reader.bytes(words * 4)?))
    })();
    if item.is_none() {
        *reader = Reader::new(&[]);
    }
    Some(item)
}

fn write_services(bytes: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    write_item(bytes, 0, 0, body);
}

fn write_service(
    bytes: &mut Vec<u8>,
    number: u8,
    is_broken: bool,
    body: impl FnOnce(&mut Vec<u8>),
) {
    write_item(bytes, number, if is_broken { BREAK } else { 0 }, body);
}

fn write_parameter(bytes: &mut Vec<u8>, number: u8, flags: u8, body: impl FnOnce(&mut Vec<u8>)) {
    write_item(bytes, number, flags, body);
}

fn write_item(bytes: &mut Vec<u8>, number: u8, flags: u8, body: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    bytes.extend([number, flags, 0, 0]);
    body(bytes);
    let words = u16::try_from((bytes.len() - start - 4) / 4).unwrap_or(u16::MAX);
    bytes[start + 2..start + 4].copy_from_slice(&words.to_be_bytes());
}
