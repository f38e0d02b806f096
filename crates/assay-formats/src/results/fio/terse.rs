//! fio's terse output, versions 2 to 5: one line per job, times in microseconds (fio manual, "Terse
//! output").

use super::printed::{
    PrintedJob, PrintedOutput, PrintedSide, PrintedTimes, ascending, ios_of_rate,
};
use crate::results::amount::NumberPlace;
use crate::results::imported::{broken, refused};
use assay_model::Result;
use assay_model::number::count;

/// Fields of a line of the shortest version at least.
const FIELDS_MIN: usize = 40;
const MICROSECOND_NS: f64 = 1e3;
const KIBIBYTE: f64 = 1024.0;

/// Whether a text has such a line.
pub fn is_output(text: &str) -> bool {
    text.lines().any(is_line)
}

fn is_line(line: &str) -> bool {
    let mut fields = line.split(';');
    let (first, second) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    let is_known = match first {
        "2" => true,
        "3" | "4" | "5" => second.starts_with("fio-"),
        _ => false,
    };
    is_known && fields.count() >= FIELDS_MIN
}

/// Reads every line of a job; states of a run that follow one another are one.
pub fn read(text: &str) -> Result<PrintedOutput> {
    let mut output = PrintedOutput { version: "fio".to_owned(), ..PrintedOutput::default() };
    let mut jobs: Vec<PrintedJob> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| is_line(line)) {
        let mut fields = TerseFields { rest: line.trim_end().split(';').collect(), line: number };
        let version = fields.next()?;
        if version != "2" {
            fields.next()?.clone_into(&mut output.version);
        } else if !line.contains("%=") {
            let what = "its terse output is that of fio 1, which has no IOPS";
            return Err(refused("fio", what, "use the printed output of the same run"));
        }
        jobs.push(fields.job(version)?);
    }
    output.jobs = last_states(jobs)?;
    Ok(output)
}

/// The fields of a line that are not read yet.
struct TerseFields<'a> {
    rest: std::collections::VecDeque<&'a str>,
    line: usize,
}

impl<'a> TerseFields<'a> {
    fn next(&mut self) -> Result<&'a str> {
        let cut = || broken("fio", &format!("line {} is cut off", self.line));
        self.rest.pop_front().ok_or_else(cut)
    }

    fn number(&mut self, what: &str) -> Result<Option<f64>> {
        let place = NumberPlace { program: "fio", line: self.line, what };
        place.amount(self.next()?)
    }

    fn job(&mut self, version: &str) -> Result<PrintedJob> {
        let name = self.next()?.to_owned();
        let group = self.number("the group")?.map_or(0, count);
        let error = self.next()?.trim().parse().unwrap_or(0);
        let mut sides = Vec::new();
        // Processor shares follow the operations, and are the first with a percent sign.
        while self.rest.front().is_some_and(|field| !field.ends_with('%')) {
            sides.push(self.side(version)?);
        }
        let group = u32::try_from(group).unwrap_or(u32::MAX);
        let mut job = PrintedJob { name, group, error, ..PrintedJob::default() };
        let mut sides = sides.into_iter();
        match (sides.len(), version) {
            (1, _) => job.mixed = sides.next().flatten(),
            (_, "3") => [job.read, job.write, job.mixed] = [(); 3].map(|()| sides.next().flatten()),
            _ => {
                [job.read, job.write, job.trim, job.mixed] =
                    [(); 4].map(|()| sides.next().flatten());
            }
        }
        if self.rest.len() < 2 {
            return Err(broken("fio", &format!("line {} is cut off", self.line)));
        }
        Ok(job.told_apart())
    }

    /// One operation; nothing where it did not happen.
    fn side(&mut self, version: &str) -> Result<Option<PrintedSide>> {
        let kibibytes = self.number("the amount of data")?.unwrap_or(0.0);
        self.number("the bandwidth")?;
        let (iops, runtime_ms) = (self.number("IOPS")?, self.number("the runtime")?);
        self.times()?;
        let mut completion = self.times()?;
        completion.quantiles = self.quantiles()?;
        let total = self.times()?;
        for _ in 0..if version == "5" { 11 } else { 5 } {
            self.next()?;
        }
        let ios = ios_of_rate(iops.unwrap_or(0.0), runtime_ms.unwrap_or(0.0));
        if kibibytes > 0.0 && ios == 0 {
            let what = format!(
                "line {}: less than one I/O per second, so its count is unknown",
                self.line
            );
            return Err(refused("fio", &what, "use the output of --output-format=json"));
        }
        let bytes = count(kibibytes * KIBIBYTE);
        let errors = 0;
        let runtime_s = runtime_ms.map(|time_ms| time_ms / 1e3);
        let side = PrintedSide { ios, bytes, errors, runtime_s, completion, total };
        Ok((ios > 0).then_some(side))
    }

    fn times(&mut self) -> Result<PrintedTimes> {
        let mut next = |what: &str| -> Result<Option<f64>> {
            Ok(self.number(what)?.map(|time_us| time_us * MICROSECOND_NS))
        };
        let (min_ns, max_ns) = (next("a shortest time")?, next("a longest time")?);
        let mean_ns = next("a mean time")?;
        next("a deviation")?;
        Ok(PrintedTimes { min_ns, max_ns, mean_ns, ..PrintedTimes::default() })
    }

    /// `99.000000%=173`, in microseconds, as many as there are.
    fn quantiles(&mut self) -> Result<Vec<(f64, f64)>> {
        let mut quantiles = Vec::new();
        while let Some((percent, time)) = self.rest.front().and_then(|field| field.split_once("%="))
        {
            self.rest.pop_front();
            let place = NumberPlace { program: "fio", line: self.line, what: "a percentile" };
            if let (Some(percent), Some(time_us)) = (place.amount(percent)?, place.amount(time)?) {
                quantiles.push((percent / 100.0, time_us * MICROSECOND_NS));
            }
        }
        Ok(ascending(quantiles))
    }
}

/// Lines of one name and group are the copies of a job, which ran as long as one another, or the
/// states of one that ran longer and longer, of which the last counts.
fn last_states(jobs: Vec<PrintedJob>) -> Result<Vec<PrintedJob>> {
    let mut last: Vec<Vec<PrintedJob>> = Vec::new();
    for job in jobs {
        let is_same = |known: &&mut Vec<PrintedJob>| {
            known.first().is_some_and(|one| one.name == job.name && one.group == job.group)
        };
        match last.iter_mut().find(is_same) {
            Some(known) => known.push(job),
            None => last.push(vec![job]),
        }
    }
    let mut kept = Vec::new();
    for mut jobs in last {
        let times: Vec<f64> = jobs.iter().map(|job| job.runtime_s().unwrap_or(0.0)).collect();
        let (first, longest) = (times[0], times.iter().copied().fold(0.0, f64::max));
        if longest <= 1.2 * first {
            kept.append(&mut jobs);
        } else if times.windows(2).all(|two| two[0] <= two[1]) && !has_copies(&times) {
            kept.extend(jobs.pop());
        } else {
            let what = format!("it has several results of job {}", jobs[0].name);
            return Err(refused("fio", &what, "split it into one file per run"));
        }
    }
    Ok(kept)
}

/// Whether two states but the last two are as good as equal.
fn has_copies(times: &[f64]) -> bool {
    let before_last = &times[..times.len().saturating_sub(1)];
    before_last.windows(2).any(|two| two[1] <= 1.02 * two[0])
}

#[cfg(test)]
mod tests {
    use super::super::printed::KnownTimes;
    use super::*;
    use assay_model::number::real;

    /// A line as fio writes it, with that many operations of the same numbers.
    fn line(version: &str, sides: usize, runtime_ms: u32) -> String {
        let quantiles = ["50.000000%=34", "99.000000%=173"];
        let quantiles: Vec<&str> = quantiles.into_iter().chain(vec!["0%=0"; 18]).collect();
        let more = if version == "5" { ";4;1;2;1.5;0.1;4" } else { "" };
        let side = format!(
            ";8000;4000;1000;{runtime_ms};0;0;0.000000;0.000000;1;6259;41.5;83.4;{};2;6260;42.5;\
             83.4;1;2;100.0%;1.5;0.1{more}",
            quantiles.join(";")
        );
        let head = if version == "2" { "2".to_owned() } else { format!("{version};fio-3.33") };
        format!("{head};alpha;0;0{};3.4%;29.1%;40712;0;13;100.0%;0.0%\n", side.repeat(sides))
    }

    #[test]
    fn every_version_is_read() {
        for (version, sides) in [("2", 2), ("2", 3), ("3", 2), ("4", 3), ("5", 3)] {
            let output = read(&format!("fio: a warning\n{}", line(version, sides, 2000))).unwrap();
            let job = &output.jobs[0];
            assert_eq!((job.name.as_str(), job.trim.is_some()), ("alpha", sides == 3));
            for (_, side) in job.sides() {
                assert_eq!((side.ios, side.bytes, side.runtime_s), (2000, 8_192_000, Some(2.0)));
                let KnownTimes::Distribution(times) = side.times() else { panic!() };
                assert!((times.mean_ns() / 41_500.0 - 1.0).abs() < 0.01);
                assert!((real(times.quantile_ns(0.99)) / 173_000.0 - 1.0).abs() < 0.01);
            }
            assert_eq!(job.sides().count(), 2);
        }
        assert!(read(&line("3", 1, 2000)).unwrap().jobs[0].mixed.is_some());
        assert!(!is_output("3;fio-3.33;alpha;0;0;1;2\n") && !is_output("2;3;4\n"));
    }

    #[test]
    fn copies_are_kept_and_of_states_the_last_counts() {
        let lines =
            |times: &[u32]| -> String { times.iter().map(|time| line("3", 2, *time)).collect() };
        let kept = |times: &[u32]| read(&lines(times)).map(|output| output.jobs.len());
        assert_eq!(kept(&[2000, 2001, 1999]).unwrap(), 3);
        assert_eq!(kept(&[1000, 2000, 3000, 3001]).unwrap(), 1);
        for several in [&[1000, 1000, 2000, 2000][..], &[1000, 5000, 2000]] {
            assert!(kept(several).unwrap_err().message().contains("several results"));
        }
    }

    #[test]
    fn a_line_that_is_cut_off_is_refused() {
        let whole = line("3", 2, 2000);
        for end in [400, 600, 700] {
            let error = read(&whole[..end.min(whole.len() - 30)]).unwrap_err();
            assert!(error.message().contains("line 1"), "{error}");
        }
        let error = read(&whole.replace(";1000;2000;", ";0;2000;")).unwrap_err();
        assert!(error.message().contains("count is unknown"), "{error}");
    }
}
