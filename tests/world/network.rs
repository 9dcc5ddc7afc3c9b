//! A network on this machine: hosts with a network namespace each, an address, and a cable to one bridge, which can be unplugged, and cut in one
//! direction. Each namespace belongs to a process that ends with the test, so nothing of it stays.

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::panic::resume_unwind;
use std::process::{Child, Command, Stdio};

/// What nobody but root may do.
const HINT: &str = "hint: run the tests as root, with iproute2 and nftables of `scripts/setup test`";
/// Keeps a namespace until the standard input ends.
const KEEP: &str = "echo made; exec cat";

/// The hosts, and the bridge.
pub(crate) struct Network {
    bridge: Namespace,
    hosts: Vec<Host>,
}

struct Host {
    name: &'static str,
    namespace: Namespace,
    /// The address of its network card.
    card: String,
}

impl Network {
    /// Lays one with these hosts. Their addresses are in one network of 256.
    pub(crate) fn of(hosts: &[(&'static str, Ipv4Addr)]) -> Self {
        let bridge = Namespace::new();
        bridge.run("ip link add name bridge type bridge");
        bridge.run("ip link set dev bridge up");
        bridge.run("nft add table bridge cuts");
        bridge.run("nft add chain bridge cuts forward { type filter hook forward priority 0 ; }");
        let lay = |&(name, address): &(&'static str, Ipv4Addr)| {
            let namespace = Namespace::new();
            let id = namespace.keeper.id();
            bridge.run(&format!("ip link add name {name} type veth peer name eth0 netns {id}"));
            bridge.run(&format!("ip link set dev {name} master bridge up"));
            namespace.run("ip link set dev lo up");
            namespace.run(&format!("ip address add {address}/24 dev eth0"));
            namespace.run("sysctl -q net.ipv4.conf.eth0.arp_notify=1");
            namespace.run("ip link set dev eth0 up");
            Host { name, namespace, card: format!("02:00:00:00:00:{:02x}", address.octets()[3]) }
        };
        let hosts = hosts.iter().map(lay).collect();
        Self { bridge, hosts }
    }

    /// Does something on a host: connections begin there, and programs that are started run there.
    pub(crate) fn on<T: Send>(&self, host: &str, work: impl FnOnce() -> T + Send) -> T {
        self.host(host).namespace.within(work)
    }

    /// Pulls out the cable of a host. Its programs still reach each other.
    pub(crate) fn unplug(&self, host: &str) {
        self.bridge.run(&format!("ip link set dev {host} down"));
    }

    /// Plugs it in again.
    pub(crate) fn plug_in(&self, host: &str) {
        self.bridge.run(&format!("ip link set dev {host} up"));
    }

    /// From now on nothing that the first host sends reaches the second one. What the second one sends still arrives.
    pub(crate) fn cut(&self, from: &str, to: &str) {
        self.bridge.run(&format!("nft add rule bridge cuts forward iifname {from} oifname {to} ether type ip drop"));
    }

    /// Ends all cuts.
    pub(crate) fn mend(&self) {
        self.bridge.run("nft flush chain bridge cuts forward");
    }

    /// Gives another address to a host, which tells the others that it has it now.
    pub(crate) fn give(&self, host: &str, address: Ipv4Addr) {
        let Host { namespace, card, .. } = self.host(host);
        namespace.run(&format!("ip address add {address}/24 dev eth0"));
        // The kernel tells of all addresses when a card gets its own (`arp_notify`).
        namespace.run(&format!("ip link set dev eth0 address {card}"));
    }

    fn host(&self, name: &str) -> &Host {
        self.hosts.iter().find(|host| host.name == name).unwrap()
    }
}

/// A network namespace. Dropping it removes it, once the programs in it have ended.
struct Namespace {
    /// The process to which it belongs.
    keeper: Child,
    /// Its name for the kernel.
    link: File,
}

impl Namespace {
    fn new() -> Self {
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-euc", KEEP]).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut keeper = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line != "made\n" {
            let mut why = String::new();
            keeper.stderr.take().unwrap().read_to_string(&mut why).unwrap();
            panic!("this machine allows no network namespace: {why}{HINT}");
        }
        let link = File::open(format!("/proc/{}/ns/net", keeper.id())).unwrap();
        Self { keeper, link }
    }

    /// Does something on a thread of this namespace.
    fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let thread = || {
            let moved = move_into_link_name_space(self.link.as_fd(), Some(LinkNameSpaceType::Network));
            moved.unwrap_or_else(|error| panic!("this machine lets nobody into a network namespace: {error}\n{HINT}"));
            work()
        };
        std::thread::scope(|scope| scope.spawn(thread).join().unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// Runs a command, whose words have spaces between them.
    fn run(&self, line: &str) {
        let (program, arguments) = line.split_once(' ').unwrap();
        let mut command = Command::new(program);
        command.args(arguments.split(' ')).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        let ran = self.within(|| command.stdin(Stdio::null()).output());
        let ran = ran.unwrap_or_else(|error| panic!("{line}: {error}\n{HINT}"));
        assert!(ran.status.success(), "{line}: {}{HINT}", String::from_utf8_lossy(&ran.stderr));
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
