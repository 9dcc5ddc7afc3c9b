-- Fills a hub with 10,000 builds of 50 files each. The newest 1,000 are in the tag `large`.
insert into package (id, name) select 100000 + n, 'part-' || n from generate_series(0, 99) n;
insert into events (id) select 100000 + n from generate_series(0, 9999) n;
select setval('events_id_seq', 110000);
insert into build (id, volume_id, pkg_id, version, release, create_event, start_time, completion_time, state, owner)
  select 100000 + n, 0, 100000 + n % 100, '1.' || n / 100, '1', 100000 + n, now(), now(), 1, 1 from generate_series(0, 9999) n;
select setval('build_id_seq', 110000);
select setval('package_id_seq', 110000);
insert into maven_builds select 100000 + n, 'org.example.part' || n % 100, 'part-parent', '1.' || n / 100 from generate_series(0, 9999) n;
insert into build_types select 100000 + n, (select id from btype where name = 'maven') from generate_series(0, 9999) n;
-- Ten artifacts of a build with five files each.
insert into archiveinfo (id, type_id, btype_id, build_id, filename, size, checksum, checksum_type)
  select 1000000 + n, (select id from archivetypes where name = case when n % 5 = 0 then 'pom' else 'jar' end),
    (select id from btype where name = 'maven'), 100000 + n / 50,
    'module-' || n / 5 % 10 || '-1.' || n / 5000 || (array['.pom', '.jar', '-sources.jar', '-javadoc.jar', '-tests.jar'])[1 + n % 5],
    1000 + n, md5(n::text) || md5((-n)::text), 2
  from generate_series(0, 499999) n;
select setval('archiveinfo_id_seq', 2000000);
insert into maven_archives
  select 1000000 + n, 'org.example.part' || n / 50 % 100, 'module-' || n / 5 % 10, '1.' || n / 5000 from generate_series(0, 499999) n;
insert into tag (id, name) values (100000, 'large');
insert into tag_config (tag_id, maven_support, create_event, creator_id) values (100000, true, 109000, 1);
select setval('tag_id_seq', 110000);
insert into tag_packages (package_id, tag_id, create_event, creator_id) select 100000 + n, 100000, 109000, 1 from generate_series(0, 99) n;
insert into tag_package_owners (package_id, tag_id, owner, create_event, creator_id) select 100000 + n, 100000, 1, 109000, 1 from generate_series(0, 99) n;
insert into tag_listing (build_id, tag_id, create_event, creator_id) select 100000 + n, 100000, 100000 + n, 1 from generate_series(9000, 9999) n;
analyze;
