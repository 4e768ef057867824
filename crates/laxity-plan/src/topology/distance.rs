//! How long light takes from one place on Earth to another.

use laxity::units::Nanos;

/// The Earth's mean radius in metres (IUGG).
const RADIUS: f64 = 6_371_008.8;
/// Two thirds of the speed of light, that of light in fibre, in metres a second.
const SPEED: f64 = 299_792_458.0 * 2.0 / 3.0;

/// A place on Earth, in degrees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub latitude: f64,
    pub longitude: f64,
}

impl Place {
    /// A place, unless there is none at these degrees.
    pub(super) fn new(latitude: f64, longitude: f64) -> Option<Place> {
        let fits = latitude.abs() <= 90.0 && longitude.abs() <= 360.0;
        fits.then_some(Place { latitude, longitude })
    }

    /// What light takes through fibre along the great circle to another place (haversine formula).
    pub(super) fn delay_to(self, other: Place) -> Nanos {
        let [here, there] = [self, other].map(|place| place.latitude.to_radians());
        let half_sine = |from: f64, to: f64| {
            let sine = libm::sin((to - from) / 2.0);
            sine * sine
        };
        let across = half_sine(self.longitude.to_radians(), other.longitude.to_radians());
        let part = half_sine(here, there) + libm::cos(here) * libm::cos(there) * across;
        let metres = 2.0 * RADIUS * libm::asin(libm::sqrt(part.clamp(0.0, 1.0)));
        Nanos((metres / SPEED * 1e9).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_of_known_length() {
        let place = |latitude, longitude| Place::new(latitude, longitude).unwrap();
        let milliseconds = |from: Place, to| from.delay_to(to).0 as f64 / 1e6;
        // A quarter of the circumference, whichever way.
        let quarter = RADIUS * std::f64::consts::FRAC_PI_2 / SPEED * 1e3;
        for (from, to) in [
            (place(0.0, 0.0), place(90.0, 0.0)),
            (place(0.0, 10.0), place(0.0, 100.0)),
            (place(0.0, -150.0), place(0.0, 120.0)),
        ] {
            assert!((milliseconds(from, to) - quarter).abs() < 1e-5);
            assert_eq!(from.delay_to(to), to.delay_to(from));
        }
        // London to New York, 5570 km.
        let atlantic = milliseconds(place(51.5074, -0.1278), place(40.7128, -74.0060));
        assert!((atlantic - 27.87).abs() < 0.01, "{atlantic}");
        assert_eq!(place(48.2, 16.4).delay_to(place(48.2, 16.4)), Nanos(0));
        assert!(Place::new(91.0, 0.0).is_none() && Place::new(f64::NAN, 0.0).is_none());
    }
}
