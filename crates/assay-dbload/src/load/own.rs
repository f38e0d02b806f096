//! A managed server on the storage under test, in a directory that the safety gate created; it is
//! removed together with it.

use super::own_plan::OwnPlan;
use super::preserved::PreservedServer;
use super::products::programs;
use super::session_files::allow_sessions;
use assay_dbserver::ServerProgram;
use assay_dbserver::processes::end_inside;
use assay_dbserver::{HeldServer, ServerDir, ServerStop};
use assay_host::gate::{LeftoverDirectory, Leftovers, OwnedDirectory, SafetyGate};
use assay_host::root::SysRoot;
use assay_model::durability::PageCheck;
use assay_model::{Error, Result};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Bytes of a server without data, with its log of changes: the files of `initdb`, and 4 GB of log
/// at most.
const SERVER_BYTES: u64 = 1 << 30;
/// Cache of the server while data is loaded; what is measured has its own.
const FILL_BUFFERS_BYTES: u64 = 256 << 20;

/// A running server in its directory.
pub struct OwnServer<S: ServerProgram> {
    server: S,
    /// `None` once it is given back, and of a server that was kept before.
    directory: Option<OwnedDirectory>,
    place: HeldServer,
    /// Who comes back to a kept server finds our tables in this schema.
    schema: String,
    plan: OwnPlan<S>,
    /// With these it was started last.
    settings: S::Settings,
    /// From nothing to the first session, s.
    ready_s: Option<f64>,
}

/// What programs left behind in a directory that were killed.
pub fn left_in(target: &Path) -> Result<Leftovers> {
    SafetyGate::new(SysRoot::live()).left_directories(target)
}

/// Removes one of them, with the server that still runs in it.
///
/// # Errors
/// An environment error when something does not go.
pub fn remove_left_in(left: &LeftoverDirectory) -> Result<()> {
    if !end_inside(left.held(), &programs()) {
        return Err(Error::environment(
            format!("a server of an earlier run did not stop in {}", left.path().display()),
            "end it by hand, then start again",
        ));
    }
    SafetyGate::new(SysRoot::live()).remove_left_directory(left)
}

impl<S: ServerProgram> OwnServer<S> {
    /// Makes a server, ready to be loaded.
    ///
    /// # Errors
    /// What the gate, the programs or the server say; then nothing is left behind.
    pub fn make(plan: OwnPlan<S>, stop: &AtomicBool) -> Result<Self> {
        let started = Instant::now();
        allow_sessions(plan.sessions_max)?;
        let gate = SafetyGate::new(SysRoot::live());
        let wanted_bytes = plan.data_bytes.saturating_add(SERVER_BYTES);
        let directory = gate.create_directory(&plan.target, wanted_bytes)?;
        let server = match S::create(plan.of_server(directory.held())) {
            Ok(server) => server,
            Err(error) => {
                end_inside(directory.held(), S::PROGRAMS);
                gate.remove_directory(&directory)?;
                return Err(error);
            }
        };
        let settings = plan.settings(FILL_BUFFERS_BYTES, false);
        let place = directory.held().clone();
        let schema = String::new();
        let mut own = Self {
            server,
            directory: Some(directory),
            place,
            schema,
            plan,
            settings,
            ready_s: None,
        };
        own.server.start(&own.settings, stop)?;
        own.ready_s = Some(started.elapsed().as_secs_f64());
        Ok(own)
    }

    /// Starts a server that was kept, as it is to be measured.
    ///
    /// # Errors
    /// What the programs or the server say, for example that somebody else uses it.
    pub fn adopt(mut plan: OwnPlan<S>, kept: &PreservedServer, stop: &AtomicBool) -> Result<Self> {
        allow_sessions(plan.sessions_max)?;
        let place = kept.place.clone();
        place.path().clone_into(&mut plan.target);
        let server = S::adopt(plan.of_server(&place), kept.password.clone())?;
        let settings = plan.settings(plan.cache_bytes, plan.direct);
        let schema = kept.schema.clone();
        let mut own =
            Self { server, directory: None, place, schema, plan, settings, ready_s: None };
        own.settings = own.plan.settings(own.plan.cache_bytes, own.is_direct());
        own.server.start(&own.settings, stop)?;
        Ok(own)
    }

    /// From nothing to the first session, s; none of a server that was there.
    pub const fn ready_s(&self) -> Option<f64> {
        self.ready_s
    }

    /// The schema that a later run to a kept server will look for.
    pub fn note_schema(&mut self, schema: &str) {
        schema.clone_into(&mut self.schema);
    }

    /// Whether it was there before this run.
    pub const fn was_kept(&self) -> bool {
        self.directory.is_none()
    }

    /// Where it will stay, when it is kept.
    pub fn kept_place(&self) -> Option<&Path> {
        (self.plan.keep || self.directory.is_none()).then_some(self.place.path())
    }

    /// Restarts it as it is to be measured: small cache, past the page cache where that is
    /// possible.
    pub fn turn_to_measuring(&mut self, stop: &AtomicBool) -> Result<()> {
        self.server.daemon_mut().stop(ServerStop::Clean);
        self.settings = self.plan.settings(self.plan.cache_bytes, self.is_direct());
        self.server.start(&self.settings, stop)
    }

    /// The first of its processes, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.server.daemon().process_id()
    }

    /// Why the server gave up, in its own words.
    pub fn complaint(&self) -> Option<String> {
        self.server.daemon().complaint()
    }

    /// Restarts it when it has died, and waits for its recovery; says whether it had.
    pub fn revive(&mut self, stop: &AtomicBool) -> Result<bool> {
        // One that did not start the last time has no process any more.
        if self.server.daemon().process_id().is_some() && !self.server.daemon_mut().has_ended() {
            return Ok(false);
        }
        // Sessions of the dead server hold its memory until they notice.
        end_inside(&self.place, S::PROGRAMS);
        self.server.start(&self.settings, stop)?;
        Ok(true)
    }

    /// Runs `change` on the home of the server while the server rests, and starts it again as it
    /// was.
    ///
    /// # Errors
    /// What `change` or the server say.
    pub fn at_rest(
        &mut self,
        stop: &AtomicBool,
        change: impl FnOnce(&ServerDir) -> Result<()>,
    ) -> Result<()> {
        self.server.daemon_mut().stop(ServerStop::Clean);
        change(&self.server.daemon().home)?;
        self.server.start(&self.settings, stop)
    }

    /// Whether it passes the page cache by while it is measured.
    pub fn is_direct(&self) -> bool {
        self.plan.direct && self.server.knows_direct() && self.server.daemon().can_direct()
    }

    /// Whether it was to pass the page cache by, and its file system does not let it.
    pub fn is_refused_direct(&self) -> bool {
        self.plan.direct && self.server.knows_direct() && !self.server.daemon().can_direct()
    }

    /// Keeps it from now on, whatever happens to this program or the power: a later run
    /// finds it.
    ///
    /// # Errors
    /// What the file system or the server say.
    pub fn keep_from_now(&mut self, schema: &str, stop: &AtomicBool) -> Result<()> {
        self.note_schema(schema);
        self.server.daemon_mut().stop(ServerStop::Clean);
        self.server.seal_pages();
        if let Some(directory) = self.directory.take() {
            PreservedServer::write(&self.place, self.server.daemon().password(), schema)?;
            SafetyGate::new(SysRoot::live()).give_away_directory(&directory)?;
        }
        // The programs that made its first files did not wait for storage.
        self.place
            .write_out()
            .map_err(|error| ServerDir::refused(self.place.path(), &error.into()))?;
        self.server.start(&self.settings, stop)
    }

    /// What the server and its own programs say of its pages; it rests afterwards.
    pub fn check_pages(&mut self, schema: &str) -> Vec<PageCheck> {
        let mut found = self.server.check_running(schema);
        self.server.daemon_mut().stop(ServerStop::Clean);
        found.extend(self.server.check_at_rest());
        found
    }

    /// The server.
    pub const fn server(&self) -> &S {
        &self.server
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        self.place.path()
    }

    /// Ends the server and removes its directory, unless it is to be kept.
    pub fn finish(mut self) -> Result<()> {
        self.give_back()
    }

    fn give_back(&mut self) -> Result<()> {
        let Some(directory) = self.directory.take() else {
            self.server.daemon_mut().stop(ServerStop::Clean);
            return Ok(());
        };
        // What was never loaded is of no use to a later run.
        if self.plan.keep && !self.schema.is_empty() {
            self.server.daemon_mut().stop(ServerStop::Clean);
            PreservedServer::write(&self.place, self.server.daemon().password(), &self.schema)?;
            return SafetyGate::new(SysRoot::live()).give_away_directory(&directory);
        }
        self.server.daemon_mut().stop(ServerStop::AtOnce);
        SafetyGate::new(SysRoot::live()).remove_directory(&directory)
    }
}

impl<S: ServerProgram> Drop for OwnServer<S> {
    fn drop(&mut self) {
        // What cannot be removed now is named by the next start.
        let _ = self.give_back();
    }
}
