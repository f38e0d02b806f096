//! The names of fio's options, with what becomes of those that a workload does not follow.

use crate::reading::ReadingRule;
use crate::reason::{Approximation, OptionReason};

/// Other names of options.
const ALIASES: &[(&str, &str)] = &[
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blockalign", "ba"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("io_limit", "io_size"),
    ("fill_fs", "fill_device"),
    ("fileoffset", "offset"),
    ("nr_files", "nrfiles"),
    ("numfiles", "nrfiles"),
    ("timeout", "runtime"),
    ("start_delay", "startdelay"),
    ("iomem", "mem"),
    ("ratemin", "rate_min"),
    ("ratecycle", "rate_cycle"),
    ("wait_for_previous", "stonewall"),
    ("disable_bw", "disable_bw_measurement"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
    ("ss_interval", "steadystate_check_interval"),
    ("mem_align", "iomem_align"),
    ("log_max_value", "log_window_value"),
    ("data_placement", "dataplacement"),
    ("fdp_pli", "plids"),
    ("fdp_pli_select", "plid_select"),
];

/// Options of the load.
const LOAD: &str = "
    filename directory filename_format rw bs bsrange bssplit norandommap ioengine iodepth size \
                    io_size fill_device
    filesize offset number_ios random_distribution percentage_random nrfiles fsync fdatasync \
                    direct buffered loops
    numjobs startdelay runtime time_based ramp_time rwmixread rwmixwrite thinktime rate \
                    rate_process
    rate_iops sync stonewall kb_base randseed thread zero_buffers buffer_compress_percentage \
                    dedupe_percentage";

/// Options that change nothing of the load: names, logs, statistics, how memory and processes are
/// made.
const NO_EFFECT: &str = "
    description name lockfile unique_filename bs_unaligned randrepeat ignore_error allrandrepeat \
                         random_generator
    openfiles fallocate fadvise_hint overwrite clocksource mem hugepage-size lockmem nice \
                         invalidate create_serialize
    create_fsync create_on_open create_only allow_file_create allow_mounted_write pre_read \
                         end_fsync fsync_on_close
    unlink unlink_each_loop exitall_on_error new_group per_job_logs write_bw_log
    bwavgtime write_lat_log write_iops_log iopsavgtime log_entries log_avg_msec log_hist_msec \
                         log_hist_coarseness
    write_hist_log log_window_value log_issue_time log_offset log_prio log_compression \
                         log_compression_cpus log_store_compressed
    log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id block_error_percentiles \
                         group_reporting stats
    refill_buffers scramble_buffers clat_percentiles lat_percentiles slat_percentiles \
                         percentile_list
    significant_figures disk_util gtod_reduce disable_lat disable_clat disable_slat \
                         disable_bw_measurement gtod_cpu
    unified_rw_reporting continue_on_error error_dump unit_base userspace_reap fixedbufs \
                         registerfiles nonvectored
    do_verify verify_fatal verify_dump verify_async verify_backlog verify_backlog_batch \
                         verify_interval verify_offset
    verify_pattern experimental_verify verify_state_load verify_state_save output-format output
    rate_ignore_thinktime file_service_type cmd_type comm filetype iomem_align job_start_clock_id \
                         softrandommap num_range
    verify_async_cpus verify_header_seed verify_pattern_interval verify_policy \
                         verify_write_sequence verifysort
    verifysort_nr percentage_sequential rwmixcycle end_syncfs libaio_vectored thp \
                         no_completion_thread";

/// Options that are approximated by what is done anyway.
const NEAR: &[(&str, Approximation)] = &[
    ("iodepth_batch", Approximation::NoBatches),
    ("exitall", Approximation::WholeTime),
    ("exit_what", Approximation::WholeTime),
    ("iodepth_batch_complete_min", Approximation::NoBatches),
    ("iodepth_batch_complete_max", Approximation::NoBatches),
    ("iodepth_low", Approximation::NoBatches),
    ("serialize_overlap", Approximation::NoBatches),
    ("io_submit_mode", Approximation::NoBatches),
    ("ba", Approximation::Alignment),
    ("offset_align", Approximation::Alignment),
    ("offset_increment", Approximation::SpacedStarts),
    ("rw_sequencer", Approximation::Majority),
    ("thinkcycles", Approximation::PausePerIo),
    ("thinktime_blocks", Approximation::PausePerIo),
    ("thinktime_blocks_type", Approximation::PausePerIo),
    ("thinktime_spin", Approximation::PausePerIo),
    ("thinktime_iotime", Approximation::PausePerIo),
    ("rate_cycle", Approximation::PausePerIo),
    ("buffer_pattern", Approximation::RepeatedBlocks),
    ("buffer_compress_chunk", Approximation::RepeatedBlocks),
    ("dedupe_mode", Approximation::RepeatedBlocks),
    ("dedupe_working_set_percentage", Approximation::RepeatedBlocks),
    ("dedupe_global", Approximation::RepeatedBlocks),
    ("bs_is_seq_rand", Approximation::JointSizes),
    ("ramp_size", Approximation::WarmUpByTime),
    ("hipri", Approximation::Engine),
    ("hipri_percentage", Approximation::Engine),
    ("sqthread_poll", Approximation::Engine),
    ("sqthread_poll_cpu", Approximation::Engine),
    ("force_async", Approximation::Engine),
    ("uncached", Approximation::Engine),
    ("nowait", Approximation::Engine),
    ("sync_file_range", Approximation::Fdatasync),
    ("write_barrier", Approximation::Fdatasync),
    ("file_append", Approximation::ShareOfSpace),
    ("prio", Approximation::NoPriority),
    ("prioclass", Approximation::NoPriority),
    ("priohint", Approximation::NoPriority),
    ("cmdprio", Approximation::NoPriority),
    ("cmdprio_hint", Approximation::NoPriority),
    ("cmdprio_class", Approximation::NoPriority),
    ("cmdprio_percentage", Approximation::NoPriority),
    ("cmdprio_bssplit", Approximation::NoPriority),
    ("steadystate", Approximation::NoEarlyEnd),
    ("steadystate_duration", Approximation::NoEarlyEnd),
    ("steadystate_ramp_time", Approximation::NoEarlyEnd),
    ("steadystate_check_interval", Approximation::NoEarlyEnd),
];

/// Options that are refused.
const NEVER: &[(&str, OptionReason)] = &[
    ("exec_prerun", OptionReason::NeverExecuted),
    ("exec_postrun", OptionReason::NeverExecuted),
    ("verify", OptionReason::Verification),
    ("verify_only", OptionReason::Verification),
    ("trim_percentage", OptionReason::Trim),
    ("trim_verify_zero", OptionReason::Trim),
    ("trim_backlog", OptionReason::Trim),
    ("trim_backlog_batch", OptionReason::Trim),
    ("write_iolog", OptionReason::NoWord),
    ("read_iolog", OptionReason::Replay),
    ("read_iolog_chunked", OptionReason::Replay),
    ("replay_no_stall", OptionReason::Replay),
    ("replay_redirect", OptionReason::Replay),
    ("replay_scale", OptionReason::Replay),
    ("replay_align", OptionReason::Replay),
    ("replay_time_scale", OptionReason::Replay),
    ("replay_skip", OptionReason::Replay),
    ("merge_blktrace_file", OptionReason::Replay),
    ("merge_blktrace_scalars", OptionReason::Replay),
    ("merge_blktrace_iters", OptionReason::Replay),
    ("ioscheduler", OptionReason::SystemSetting),
    ("cgroup", OptionReason::SystemSetting),
    ("cgroup_nodelete", OptionReason::SystemSetting),
    ("cgroup_weight", OptionReason::SystemSetting),
    ("uid", OptionReason::SystemSetting),
    ("gid", OptionReason::SystemSetting),
    ("cpumask", OptionReason::SystemSetting),
    ("cpus_allowed", OptionReason::SystemSetting),
    ("cpus_allowed_policy", OptionReason::SystemSetting),
    ("numa_cpu_nodes", OptionReason::SystemSetting),
    ("numa_mem_policy", OptionReason::SystemSetting),
    ("zonemode", OptionReason::ZonedDevice),
    ("zonesize", OptionReason::ZonedDevice),
    ("zonecapacity", OptionReason::ZonedDevice),
    ("zonerange", OptionReason::ZonedDevice),
    ("zoneskip", OptionReason::ZonedDevice),
    ("read_beyond_wp", OptionReason::ZonedDevice),
    ("max_open_zones", OptionReason::ZonedDevice),
    ("job_max_open_zones", OptionReason::ZonedDevice),
    ("ignore_zone_limits", OptionReason::ZonedDevice),
    ("zone_reset_threshold", OptionReason::ZonedDevice),
    ("zone_reset_frequency", OptionReason::ZonedDevice),
    ("rate_min", OptionReason::Limit),
    ("rate_iops_min", OptionReason::Limit),
    ("max_latency", OptionReason::Limit),
    ("latency_target", OptionReason::Search),
    ("latency_window", OptionReason::Search),
    ("latency_percentile", OptionReason::Search),
    ("latency_run", OptionReason::Search),
    ("write_hint", OptionReason::NoWord),
    ("atomic", OptionReason::NoWord),
    ("opendir", OptionReason::NoWord),
    ("profile", OptionReason::NoWord),
    ("wait_for", OptionReason::NoWord),
    ("flow", OptionReason::Flow),
    ("flow_id", OptionReason::Flow),
    ("flow_sleep", OptionReason::Flow),
    ("flow_watermark", OptionReason::Flow),
    ("recover_zbd_write_error", OptionReason::ZonedDevice),
    ("write_zone_remainder", OptionReason::ZonedDevice),
    ("dataplacement", OptionReason::NoWord),
    ("dp_scheme", OptionReason::NoWord),
    ("fdp", OptionReason::NoWord),
    ("plids", OptionReason::NoWord),
    ("plid_select", OptionReason::NoWord),
    ("random_sequence_stride", OptionReason::NoWord),
    ("sprandom", OptionReason::NoWord),
    ("spr_cs", OptionReason::NoWord),
    ("spr_num_regions", OptionReason::NoWord),
    ("spr_op", OptionReason::NoWord),
];

/// Options of single engines, which say nothing to others.
const ENGINE: &str = "
    cpuload cpumode cpuchunks exit_on_io_done pool cont chunk_size chunck_size object_class svcl \
                      donorname inplace program
    arguments grace_time std_redirect stat_type volume brick single-instance single_instance https \
                      http_host http_user
    http_pass http_s3_key http_s3_keyid http_s3_security_token http_swift_auth_token http_s3_region
    http_s3_sse_customer_key http_s3_sse_customer_algorithm http_s3_storage_class http_mode \
                      http_verbose
    http_object_mode gpu_dev_id gpu_dev_ids cuda_io rocm_io libblkio_driver libblkio_path \
                      libblkio_pre_connect_props
    libblkio_num_entries libblkio_queue_size libblkio_pre_start_props libblkio_vectored
    libblkio_write_zeroes_on_trim libblkio_wait_mode libblkio_force_enable_completion_eventfd \
                      namenode hostname port
    hdfsdirectory hdfs_use_direct initiator skip_bad uri protocol proto nodelay listen pingpong \
                      interface ttl
    window_size mss nfs_url clustername clientname conf busy_poll touch_objects rbdname \
                      rbd_encryption_format
    rbd_encryption_passphrase bindname verb readfua writefua write_mode verify_mode cdb_len \
                      verify_bytchk read_mode
    md_per_io_size pi_act pi_chk apptag apptag_mask deac sg_write_mode stream_id xnvme_be \
                      xnvme_mem xnvme_async
    xnvme_sync xnvme_admin xnvme_dev_nsid xnvme_dev_subnqn xnvme_iovec engine_name
    spdk_conf spdk_json_conf spdk_mem spdk_single_seg spdk_rpc_listen_addr spdk_tracing mem_size_mb \
                      shm_id env_context
    log_flags enable_sgl sge_size bit_bucket_data_len disable_pcie_sgl_merge hostnqn digest_enable \
                      enable_vmd
    enable_interrupts print_qid_mappings initial_zone_reset zone_append enable_wrr wrr_priority
    arbitration_burst low_weight medium_weight high_weight";

/// Options of fio's profiles, which say nothing without one.
const PROFILE: &str = "
    device-names load test-duration threads-per-queue read-req-num-512-blocks \
                       large-block-op-kbytes prep block numruns
    dir threads";

fn listed(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_whitespace()
}

fn all() -> impl Iterator<Item = &'static str> {
    let tables = NEAR.iter().map(|(name, _)| *name).chain(NEVER.iter().map(|(name, _)| *name));
    let own = listed(LOAD).chain(listed(NO_EFFECT)).chain(tables);
    own.chain(listed(ENGINE)).chain(listed(PROFILE))
}

/// The full name of an option, where fio has one of that name.
pub fn full(name: &str) -> Option<&'static str> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, full)| *full);
    alias.or_else(|| all().find(|known| *known == name))
}

/// Options that stand without a value as a rule.
const FLAGS: &str = "
    norandommap time_based thread stonewall group_reporting exitall exitall_on_error new_group \
                     zero_buffers
    refill_buffers bs_unaligned verify_only hipri fixedbufs registerfiles sqthread_poll \
                     nonvectored uncached nowait
    userspace_reap";

/// Whether an option stands without a value as a rule.
pub fn is_flag(name: &str) -> bool {
    listed(FLAGS).any(|known| known == name)
}

/// Whether an option belongs to a profile.
pub fn is_of_profile(name: &str) -> bool {
    listed(PROFILE).any(|known| known == name)
}

/// The nearest name to one that fio has not.
pub fn nearest(name: &str) -> Option<String> {
    let known: Vec<String> =
        all().chain(ALIASES.iter().map(|(alias, _)| *alias)).map(str::to_owned).collect();
    assay_model::document::nearest(name, &known).map(str::to_owned)
}

/// What the option of a result is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionUse {
    /// It changes the load, or may change it.
    Load,
    /// It is a name of a job or a place, which differs between hosts.
    Name,
    /// It changes nothing of the load.
    NoEffect,
    /// No version that is known has it.
    Unknown,
}

/// What the option of a result is for.
pub fn option_use(name: &str) -> OptionUse {
    let Some(full) = full(name) else { return OptionUse::Unknown };
    match (full, rule(full)) {
        ("name" | "description" | "filename" | "directory" | "filename_format", _) => {
            OptionUse::Name
        }
        (_, ReadingRule::NoEffect) => OptionUse::NoEffect,
        _ => OptionUse::Load,
    }
}

/// What becomes of an option.
pub fn rule(name: &str) -> ReadingRule {
    let near = NEAR.iter().find(|(known, _)| *known == name);
    let never = NEVER.iter().find(|(known, _)| *known == name);
    match (near, never) {
        (Some((_, how)), _) => ReadingRule::Near(how.clone()),
        (_, Some((_, reason))) => ReadingRule::Never(reason.clone()),
        _ if listed(NO_EFFECT).any(|known| known == name) => ReadingRule::NoEffect,
        _ if listed(ENGINE).any(|known| known == name) => {
            ReadingRule::Never(OptionReason::EngineOption)
        }
        _ if listed(PROFILE).any(|known| known == name) => {
            ReadingRule::Never(OptionReason::Profile)
        }
        _ => ReadingRule::Load,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_rule() {
        let mut seen = std::collections::BTreeSet::new();
        for name in all() {
            assert!(seen.insert(name), "{name} twice");
        }
        for name in listed(FLAGS) {
            assert_eq!(full(name), Some(name));
        }
        for (_, name) in ALIASES {
            assert_eq!(full(name), Some(*name));
        }
        assert_eq!((full("readwrite"), full("nonsense")), (Some("rw"), None));
        assert_eq!(
            ["blocksize", "name", "nonvectored", "verify", "nonsense"].map(option_use),
            [
                OptionUse::Load,
                OptionUse::Name,
                OptionUse::NoEffect,
                OptionUse::Load,
                OptionUse::Unknown
            ]
        );
        assert_eq!(nearest("iodepht").as_deref(), Some("iodepth"));
    }
}
