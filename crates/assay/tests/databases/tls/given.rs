//! A server that speaks TLS alone, in a directory of its own, with certificates made for the test.

use crate::server::words;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
};
use std::fs::{self, Permissions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const SECRET: &str = "S3cret-Pw";

/// Products whose servers are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    Postgres,
    Mariadb,
}

type Authority = CertifiedIssuer<'static, KeyPair>;

/// Who a certificate is of: OpenSSL finds its authority by that name.
fn name(of: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, of);
    name
}

/// An authority, its certificate in `NAME.pem`.
fn authority(place: &Path, of: &str) -> Authority {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.distinguished_name = name(of);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = CertifiedIssuer::self_signed(parameters, key).unwrap();
    fs::write(place.join(format!("{of}.pem")), authority.pem()).unwrap();
    authority
}

/// A certificate for these names in `NAME.pem`, its key in `NAME.key`.
fn sign(place: &Path, authority: &Authority, of: &str, hosts: &[&str], until: i32) {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut parameters = CertificateParams::new(hosts).unwrap();
    parameters.distinguished_name = name(of);
    parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
    parameters.not_after = rcgen::date_time_ymd(until, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.signed_by(&key, authority).unwrap();
    write_pair(place, of, &certificate.pem(), &key);
}

/// `ca.pem` is trusted by both sides, `other.pem` is an authority that signed `stranger` alone.
fn make_certificates(place: &Path) {
    let trusted = authority(place, "ca");
    for (name, hosts, until) in [
        ("server", &["localhost", "127.0.0.1"][..], 2100),
        ("elsewhere", &["db.example"], 2100),
        ("expired", &["localhost", "127.0.0.1"], 2021),
        ("client", &["client.example"], 2100),
    ] {
        sign(place, &trusted, name, hosts, until);
    }
    sign(place, &authority(place, "other"), "stranger", &["client.example"], 2100);
    sign_itself(place, "itself", &["localhost"]);
}

/// A certificate that is its own authority, as `openssl req -x509` makes it.
fn sign_itself(place: &Path, of: &str, hosts: &[&str]) {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut parameters = CertificateParams::new(hosts).unwrap();
    parameters.distinguished_name = name(of);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    write_pair(place, of, &parameters.self_signed(&key).unwrap().pem(), &key);
}

fn write_pair(place: &Path, of: &str, certificate: &str, key: &KeyPair) {
    fs::write(place.join(format!("{of}.pem")), certificate).unwrap();
    let path = place.join(format!("{of}.key"));
    fs::write(&path, key.serialize_pem()).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
}

/// A server under test in a directory of its own; it ends with this.
pub struct Given {
    place: PathBuf,
    product: Product,
    account: Option<assay_dbserver::SystemAccount>,
    child: Option<Child>,
    port: u16,
}

impl Given {
    /// The data of a server; nothing where this machine has no such product.
    pub fn new(product: Product, name: &str) -> Option<Self> {
        let (installed, account) = match product {
            Product::Postgres => (postgres_binaries().is_some(), assay_postgres::server::account()),
            Product::Mariadb => (mariadb_binaries().is_some(), assay_mariadb::server::account()),
        };
        if !installed {
            println!("skipped: no server of {product:?} here");
            return None;
        }
        let given = Self::placed(&format!("{name}-{product:?}"), product, account);
        match product {
            Product::Postgres => given.make_postgres(),
            Product::Mariadb => given.make_mariadb(),
        }
        Some(given)
    }

    /// A place with certificates alone.
    pub fn without_server(name: &str) -> Self {
        Self::placed(name, Product::Postgres, None)
    }

    fn placed(
        name: &str,
        product: Product,
        account: Option<assay_dbserver::SystemAccount>,
    ) -> Self {
        let place = assay_rig::memory_directory().join(format!("tls-{name}"));
        fs::create_dir_all(&place).unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
        make_certificates(&place);
        fs::create_dir(place.join("s")).unwrap();
        let given = Self { place, product, account, child: None, port: free_port() };
        for name in ["s", "server.key", "elsewhere.key", "expired.key", "itself.key"] {
            given.hand_over(name);
        }
        given
    }

    fn hand_over(&self, name: &str) {
        if let Some(account) = &self.account {
            chown(self.place.join(name), Some(account.user), Some(account.group)).unwrap();
        }
    }

    /// A file that the server's account owns.
    fn write(&self, name: &str, text: &str) {
        fs::write(self.place.join(name), text).unwrap();
        self.hand_over(name);
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.place.join("s")).process_group(0).env_clear();
        command.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(account) = &self.account {
            command.uid(account.user).gid(account.group);
        }
        command
    }

    fn make_postgres(&self) {
        self.write("s/secret", SECRET);
        let mut initdb = self.command(&postgres_binaries().unwrap().program("initdb"));
        initdb.args(["-D", "data", "-U", "owner", "--auth=scram-sha-256", "--locale=C"]);
        assert!(initdb.args(["--no-sync", "--pwfile", "secret"]).status().unwrap().success());
        self.let_in("scram-sha-256");
    }

    /// Whoever comes over TLS and meets this.
    fn let_in(&self, method: &str) {
        self.write("s/data/pg_hba.conf", &format!("hostssl all all all {method}\n"));
    }

    fn make_mariadb(&self) {
        self.write_first("");
        let mut install = self.command(&mariadb_binaries().unwrap().installer);
        install.args(["--no-defaults", "--skip-test-db", "--skip-name-resolve"]);
        // Many servers at once use up what the kernel allows of asynchronous I/O.
        install.arg("--innodb-use-native-aio=0").arg(self.setting("tmpdir", "s"));
        let made = install.arg(self.setting("datadir", "s/data")).stderr(Stdio::piped()).output();
        let made = made.unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    /// What the server does first; `terms` are asked of its user.
    fn write_first(&self, terms: &str) {
        let first = format!(
            "CREATE OR REPLACE USER owner@'%' IDENTIFIED BY '{SECRET}' {terms};\nGRANT ALL ON *.* \
             TO owner@'%' WITH GRANT OPTION;\nSET GLOBAL local_infile = ON;\n"
        );
        self.write("s/first.sql", &first);
    }

    fn setting(&self, name: &str, file: &str) -> String {
        format!("--{}={}", name.replace('_', "-"), self.path(file))
    }

    /// Starts the server with a certificate and further settings, in place of one that runs.
    pub fn start(&mut self, certificate: &str, more: &[(&str, &str)]) {
        self.stop();
        let (public, key) = (format!("{certificate}.pem"), format!("{certificate}.key"));
        let (pem, secret) = match self.product {
            Product::Postgres => ("ssl_cert_file", "ssl_key_file"),
            Product::Mariadb => ("ssl_cert", "ssl_key"),
        };
        let files = [&[(pem, public.as_str()), (secret, key.as_str())], more].concat();
        let mut server = match self.product {
            Product::Postgres => self.postgres(),
            Product::Mariadb => self.mariadb(),
        };
        server.args(files.iter().map(|(name, file)| self.setting(name, file)));
        self.child = Some(server.spawn().unwrap());
        self.wait();
    }

    fn postgres(&self) -> Command {
        let mut server = self.command(&postgres_binaries().unwrap().program("postgres"));
        server.args(["-D", "data", "--unix-socket-directories=", "--ssl=on", "--fsync=off"]);
        server.arg("--listen-addresses=127.0.0.1").arg(format!("--port={}", self.port));
        server
    }

    fn mariadb(&self) -> Command {
        let mut server = self.command(&mariadb_binaries().unwrap().server);
        server.args(["--no-defaults", "--socket=s", "--skip-name-resolve"]);
        server.args(["--require-secure-transport=ON", "--bind-address=127.0.0.1"]);
        server.arg(format!("--port={}", self.port));
        server.arg(self.setting("datadir", "s/data")).arg(self.setting("init_file", "s/first.sql"));
        server
    }

    /// The same, and whoever comes must show a certificate that `ca.pem` signed.
    pub fn start_wanting_certificates(&mut self) {
        match self.product {
            Product::Postgres => {
                self.let_in("scram-sha-256 clientcert=verify-ca");
                self.start("server", &[("ssl_ca_file", "ca.pem")]);
            }
            Product::Mariadb => {
                self.write_first("REQUIRE X509");
                self.start("server", &[("ssl_ca", "ca.pem")]);
            }
        }
    }

    pub fn path(&self, name: &str) -> String {
        self.place.join(name).display().to_string()
    }

    /// The server's address by this name, with these terms.
    pub fn at(&self, host: &str, more: &str) -> String {
        self.address(SECRET, host, more)
    }

    pub fn address(&self, password: &str, host: &str, more: &str) -> String {
        let (scheme, database) = match self.product {
            Product::Postgres => ("postgresql", "postgres"),
            Product::Mariadb => ("mysql", ""),
        };
        format!("{scheme}://owner:{password}@{host}:{}/{database}?{more}", self.port)
    }

    fn assay(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(arguments).current_dir(&self.place).stdin(Stdio::null());
        command.output().unwrap()
    }

    pub fn profile(&self, address: &str) -> Output {
        self.assay(&["profile", address, "--time", "2s", "--quiet", "--json"])
    }

    pub fn profiled(&self, address: &str) {
        let output = self.profile(address);
        assert_eq!(output.status.code(), Some(0), "{address}: {}", words(&output));
    }

    /// A session begins, and is encrypted.
    pub fn lets_in(&self, address: &str) {
        let asked = |_: &str| None;
        let encryption = match self.product {
            Product::Postgres => {
                let address =
                    assay_postgres::address::PostgresAddress::parse(address, asked).unwrap();
                let session =
                    assay_postgres::connection::PostgresConnection::open(&address, "test");
                session.map(|session| session.encryption())
            }
            Product::Mariadb => {
                let address =
                    assay_mariadb::address::MariadbAddress::parse(address, asked).unwrap();
                let session = assay_mariadb::connection::MariadbConnection::open(&address);
                session.map(|session| session.encryption())
            }
        };
        assert!(encryption.is_ok_and(|found| found.is_some()), "{address}");
    }

    /// Refused with these words; the password is in none of them.
    pub fn refused(&self, address: &str, word: &str) {
        let output = self.profile(address);
        let said = words(&output);
        assert_eq!(output.status.code(), Some(4), "{address}: {said}");
        assert!(said.contains(word) && said.contains("hint: "), "{address}: {word}: {said}");
        assert!(!said.contains(SECRET), "{said}");
    }

    /// Loaded with all checks; its result names the encryption and what it cost, and holds no
    /// password.
    pub fn loaded(&self, address: &str) {
        let sizes = ["--scale", "8MiB", "--sessions", "2", "--time", "1s"];
        let output =
            self.assay(&[&["bench", "slob", address, "--quiet", "--json"], &sizes[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let encryption = &found["load"]["server"]["encryption"];
        assert_eq!(encryption["protocol"], "TLSv1.3", "{encryption}");
        assert_eq!(encryption["checked"], "authority_and_host");
        assert!(encryption["cost_per_answer_ns"].as_f64().unwrap() > 0.0);
        let mut search = Command::new("grep");
        search.args(["-rlF", SECRET, "assay-runs"]).current_dir(&self.place);
        let kept = search.output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&kept.stdout).trim(),
            "",
            "the password is in the store"
        );
    }

    fn wait(&self) {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        // PostgreSQL takes connections some moments before it takes sessions.
        std::thread::sleep(Duration::from_millis(300));
    }

    fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.place);
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn postgres_binaries() -> Option<assay_postgres::binaries::PostgresBinaries> {
    let named = std::env::var_os("ASSAY_BINDIR").map(PathBuf::from);
    assay_postgres::binaries::PostgresSearchPath::of_this_program(named).find().ok()
}

fn mariadb_binaries() -> Option<assay_mariadb::binaries::MariadbBinaries> {
    assay_mariadb::binaries::MariadbSearchPath::of_this_program(None).find().ok()
}
