//! Servers that are reached over TLS alone, and those who play one: what is checked is checked, and who cannot be trusted
//! gets no password.

use crate::server::words;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const SECRET: &str = "S3cret-Pw";

/// Certificates of a test: authorities and what they signed, in PEM files.
struct Certificates {
    place: PathBuf,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Certificates {
    /// `ca.pem` is trusted, `other.pem` is an authority that signed nothing here.
    fn make(place: &Path) -> Self {
        let made = |name: &str| {
            let mut parameters = CertificateParams::new(Vec::new()).unwrap();
            parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let key = KeyPair::generate().unwrap();
            let authority = CertifiedIssuer::self_signed(parameters, key).unwrap();
            fs::write(place.join(name), authority.pem()).unwrap();
            authority
        };
        made("other.pem");
        Self { place: place.to_owned(), authority: made("ca.pem") }
    }

    /// A certificate for these names in `NAME.pem`, its key in `NAME.key`.
    fn sign(&self, name: &str, hosts: &[&str], until: i32) {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut parameters = CertificateParams::new(hosts).unwrap();
        parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.authority).unwrap();
        fs::write(self.place.join(format!("{name}.pem")), certificate.pem()).unwrap();
        let path = self.place.join(format!("{name}.key"));
        fs::write(&path, key.serialize_pem()).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    }
}

/// A server under test in a directory of its own; it ends with this.
struct Given {
    place: PathBuf,
    account: Option<assay_daemon::Account>,
    child: Option<Child>,
    port: u16,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Given {
    fn new(name: &str, account: Option<assay_daemon::Account>) -> Self {
        let place = assay_rig::ground().join(format!("tls-{name}"));
        fs::create_dir_all(&place).unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
        let certificates = Certificates::make(&place);
        certificates.sign("server", &["localhost", "127.0.0.1"], 2100);
        certificates.sign("elsewhere", &["db.example"], 2100);
        certificates.sign("expired", &["localhost", "127.0.0.1"], 2021);
        fs::create_dir(place.join("s")).unwrap();
        let given = Self { place, account, child: None, port: free_port() };
        given.hand_over("s");
        for key in ["server.key", "elsewhere.key", "expired.key"] {
            given.hand_over(key);
        }
        given
    }

    fn hand_over(&self, name: &str) {
        if let Some(account) = &self.account {
            chown(self.place.join(name), Some(account.user), Some(account.group)).unwrap();
        }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.place.join("s")).process_group(0).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(account) = &self.account {
            command.uid(account.user).gid(account.group);
        }
        command
    }

    fn path(&self, name: &str) -> String {
        self.place.join(name).display().to_string()
    }

    fn assay(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(arguments).current_dir(&self.place).stdin(Stdio::null());
        command.output().unwrap()
    }

    fn profile(&self, address: &str) -> Output {
        self.assay(&["profile", address, "--for", "2s", "--quiet", "--json"])
    }

    /// Refused with these words; the password is in none of them.
    fn refused(&self, address: &str, word: &str) {
        let output = self.profile(address);
        let said = words(&output);
        assert_eq!(output.status.code(), Some(4), "{address}: {said}");
        assert!(said.contains(word) && said.contains("hint: "), "{address}: {word}: {said}");
        assert!(!said.contains(SECRET), "{said}");
    }

    fn loaded(&self, address: &str) {
        let arguments = [
            "load",
            "slob",
            address,
            "--quiet",
            "--json",
            "--scale",
            "8MiB",
            "--sessions",
            "2",
            "--time",
            "1s",
        ];
        let output = self.assay(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let encryption = &found["load"]["server"]["encryption"];
        assert_eq!(encryption["protocol"], "TLSv1.3", "{encryption}");
        assert_eq!(encryption["checked"], "authority_and_host");
        assert!(encryption["cost_per_answer_ns"].as_f64().unwrap() > 0.0);
        let mut search = Command::new("grep");
        search.args(["-rlF", SECRET, "assay-runs"]).current_dir(&self.place);
        let kept = search.output().unwrap();
        assert_eq!(words(&kept).trim(), "", "the password is in the store");
    }

    fn wait(&self) {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
            let begun = Instant::now();
            while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.place);
    }
}

/// PostgreSQL that takes sessions over TLS alone, with passwords of the kind SCRAM.
fn postgres(name: &str) -> Option<Given> {
    let named = std::env::var_os("ASSAY_BINDIR").map(PathBuf::from);
    let binaries = assay_postgres::binaries::Places::of_this_program(named).find();
    let Ok(binaries) = binaries else {
        println!("skipped: no PostgreSQL server here");
        return None;
    };
    let given = Given::new(name, assay_postgres::server::account());
    let secret = given.place.join("s/secret");
    fs::write(&secret, SECRET).unwrap();
    given.hand_over("s/secret");
    let mut initdb = given.command(&binaries.program("initdb"));
    initdb.args(["-D", "data", "-U", "owner", "--auth=scram-sha-256", "--locale=C", "--no-sync"]);
    assert!(initdb.args(["--pwfile", "secret"]).status().unwrap().success());
    let hba = "hostssl all all all scram-sha-256\n";
    fs::write(given.place.join("s/data/pg_hba.conf"), hba).unwrap();
    Some(given)
}

fn start_postgres(given: &mut Given, certificate: &str) {
    given.stop();
    let named = std::env::var_os("ASSAY_BINDIR").map(PathBuf::from);
    let binaries = assay_postgres::binaries::Places::of_this_program(named).find().unwrap();
    let mut command = given.command(&binaries.program("postgres"));
    command.args([
        "-D",
        "data",
        "-c",
        "listen_addresses=127.0.0.1",
        "-c",
        "unix_socket_directories=",
    ]);
    command.arg("-p").arg(given.port.to_string()).args(["-c", "ssl=on", "-c", "fsync=off"]);
    for (name, file) in [("ssl_cert_file", "pem"), ("ssl_key_file", "key")] {
        command.arg("-c").arg(format!("{name}={}", given.path(&format!("{certificate}.{file}"))));
    }
    given.child = Some(command.spawn().unwrap());
    given.wait();
    std::thread::sleep(Duration::from_millis(300));
}

#[test]
fn postgresql_over_tls_alone_is_loaded_and_profiled_and_what_is_wrong_is_refused() {
    let Some(mut given) = postgres("postgres") else { return };
    start_postgres(&mut given, "server");
    let (ca, other) = (given.path("ca.pem"), given.path("other.pem"));
    let at = |host: &str, more: &str| {
        format!("postgresql://owner:{SECRET}@{host}:{}/postgres?{more}", given.port)
    };
    given.loaded(&at(
        "localhost",
        &format!("sslmode=verify-full&sslrootcert={ca}&channel_binding=require"),
    ));
    let output = given.profile(&at("127.0.0.1", &format!("sslmode=verify-full&sslrootcert={ca}")));
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    // Every mode that may encrypt does, because the server wants it.
    for mode in ["allow", "prefer", "require"] {
        let output = given.profile(&at("localhost", &format!("sslmode={mode}")));
        assert_eq!(output.status.code(), Some(0), "{mode}: {}", words(&output));
    }
    given.refused(&at("localhost", "sslmode=disable"), "no encryption");
    given.refused(
        &at("localhost", &format!("sslmode=verify-full&sslrootcert={other}")),
        "authority",
    );
    given.refused(&at("localhost", &format!("sslmode=require&sslrootcert={other}")), "authority");
    given.refused(&at("localhost", "sslmode=verify-full"), "trust");
    let wrong =
        format!("postgresql://owner:wrong@localhost:{}/postgres?sslmode=require", given.port);
    given.refused(&wrong, "password authentication failed");
    start_postgres(&mut given, "elsewhere");
    let (ca, at) = (given.path("ca.pem"), |more: &str| {
        format!("postgresql://owner:{SECRET}@localhost:{}/postgres?{more}", given.port)
    });
    given.refused(&at(&format!("sslmode=verify-full&sslrootcert={ca}")), "db.example");
    let output = given.profile(&at(&format!("sslmode=verify-ca&sslrootcert={ca}")));
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    start_postgres(&mut given, "expired");
    let at = format!(
        "postgresql://owner:{SECRET}@localhost:{}/postgres?sslmode=verify-ca&sslrootcert={ca}",
        given.port
    );
    given.refused(&at, "expired");
}

#[test]
fn mariadb_over_tls_alone_is_loaded_and_profiled_and_what_is_wrong_is_refused() {
    let Ok(binaries) = assay_mariadb::binaries::Places::of_this_program(None).find() else {
        println!("skipped: no MariaDB server here");
        return;
    };
    let mut given = Given::new("mariadb", assay_mariadb::server::account());
    let first = format!(
        "CREATE USER owner@'%' IDENTIFIED BY '{SECRET}';\nGRANT ALL ON *.* TO owner@'%' WITH GRANT OPTION;\n\
         SET GLOBAL local_infile = ON;\n"
    );
    fs::write(given.place.join("s/first.sql"), first).unwrap();
    given.hand_over("s/first.sql");
    let mut install = given.command(&binaries.installer);
    let data = format!("--datadir={}", given.path("s/data"));
    install.args(["--no-defaults", "--skip-test-db", &data]);
    install.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    assert!(install.status().unwrap().success());
    let mut server = given.command(&binaries.server);
    server.args([
        "--no-defaults",
        &data,
        "--socket=s",
        "--require-secure-transport=ON",
        "--skip-name-resolve",
    ]);
    server.arg(format!("--port={}", given.port)).arg("--bind-address=127.0.0.1");
    server.arg(format!("--init-file={}", given.path("s/first.sql")));
    server.arg(format!("--ssl-cert={}", given.path("server.pem")));
    server.arg(format!("--ssl-key={}", given.path("server.key")));
    given.child = Some(server.spawn().unwrap());
    given.wait();
    let (ca, other) = (given.path("ca.pem"), given.path("other.pem"));
    let at = |more: &str| format!("mysql://owner:{SECRET}@localhost:{}/?{more}", given.port);
    given.loaded(&at(&format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={ca}")));
    for more in ["", "sslmode=require", "ssl-mode=PREFERRED", "sslmode=allow"] {
        let output = given.profile(&at(more));
        assert_eq!(output.status.code(), Some(0), "{more}: {}", words(&output));
    }
    // What this server says to a way that is not encrypted.
    given.refused(&at("ssl-mode=DISABLED"), "Access denied");
    given.refused(&at(&format!("ssl-mode=VERIFY_CA&ssl-ca={other}")), "authority");
    given.refused(&at(&format!("ssl-ca={other}")), "authority");
}

/// Who plays a server: says this to the first that it hears, on every connection.
fn played(say: &'static [u8], times: usize) -> (u16, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let mut heard = Vec::new();
        for _ in 0..times {
            let (mut way, _) = listener.accept().unwrap();
            let mut room = [0; 4096];
            let got = way.read(&mut room).unwrap_or(0);
            heard.extend(&room[..got]);
            let _ = way.write_all(say);
            let _ = way.read(&mut room).map(|got| heard.extend(&room[..got]));
        }
        heard
    });
    (port, server)
}

#[test]
fn who_plays_a_server_gets_no_password_and_no_session() {
    let given = Given::new("played", None);
    let address =
        |port: u16, more: &str| format!("postgresql://me:{SECRET}@127.0.0.1:{port}/x?{more}");
    // It strips the encryption.
    let (port, server) = played(b"N", 1);
    given.refused(&address(port, "sslmode=require"), "does not encrypt");
    assert!(!String::from_utf8_lossy(&server.join().unwrap()).contains(SECRET));
    // It puts something behind its consent.
    let (port, server) = played(b"SE\0\0\0\x08hi\0", 1);
    given.refused(&address(port, "sslmode=require"), "unencrypted");
    server.join().unwrap();
    // It speaks no TLS after its consent.
    let (port, server) = played(b"S", 1);
    let output = given.profile(&address(port, "sslmode=require"));
    assert_eq!(output.status.code(), Some(4), "{}", words(&output));
    assert!(!String::from_utf8_lossy(&server.join().unwrap()).contains(SECRET));
    // It asks for the password in clear, or as MD5, without encryption.
    for say in [&b"R\0\0\0\x08\0\0\0\x03"[..], b"R\0\0\0\x0c\0\0\0\x05abcd"] {
        let (port, server) = played(say, 1);
        given.refused(&address(port, "sslmode=disable"), "not one to tell it on");
        let heard = server.join().unwrap();
        assert!(!String::from_utf8_lossy(&heard).contains(SECRET));
        assert!(!heard.windows(3).any(|three| three == b"md5"));
    }
}
