//! Detects network file systems, whose locks and syncs the store cannot rely on.

/// The name of a network file system with this magic number (statfs(2)). 9p and FUSE are accepted: virtual machines and containers
/// use them for local disks.
pub(crate) fn network_file_system(magic: u32) -> Option<&'static str> {
    match magic {
        0x6969 => Some("NFS"),
        0x517b => Some("SMB"),
        0xff53_4d42 => Some("CIFS"),
        0xfe53_4d42 => Some("SMB2"),
        0x00c3_6400 => Some("Ceph"),
        0x5346_414f => Some("AFS"),
        0x0bd0_0bd0 => Some("Lustre"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_recognized_by_their_numbers() {
        assert_eq!(network_file_system(0x6969), Some("NFS"));
        assert_eq!(network_file_system(0xef53), None, "ext4");
        assert_eq!(network_file_system(0x0102_1997), None, "9p");
    }
}
