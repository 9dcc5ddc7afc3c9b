//! The machine is lost, and a database takes the place of the one that had the last changes: only segments in object storage have them.

use super::*;
use crate::truth::postgres::tests::server::Server;
use crate::truth::suite::setting;
use crate::{DatabaseOptions, Seq};
use serde_json::json;

/// The last change before the loss.
const LAST: u64 = 600;

/// A machine after another on one database and one object storage.
struct Machines {
    server: Server,
    database: String,
    there: Arc<Lying>,
    objects: Objects,
}

impl Machines {
    /// The first one has made the changes up to [`LAST`], some of them in each segment, and is lost.
    async fn after_a_loss() -> Self {
        let (server, there) = (Server::start(), Arc::new(Lying::default()));
        let (database, objects) = (server.database(), of(there.clone()));
        let all = Self { server, database, there, objects };
        let folder = tempfile::tempdir().unwrap();
        let first = all.open(folder.path());
        for round in 0..LAST / 100 {
            let changes = (1..=100).map(|number| setting(&format!("{}", round * 100 + number), json!(round))).collect();
            first.commit(batch(vec![], changes), &mut job()).await.unwrap();
            first.ship_now(&mut job()).await.unwrap();
        }
        first.close();
        all
    }

    fn open(&self, data: &Path) -> Arc<Store> {
        let database: DatabaseOptions = self.server.options(&self.database);
        let objects = Some(self.objects.clone());
        Store::open(StoreOptions { database: Some(database), objects, ..options(data) }).unwrap()
    }

    fn rows(&self, through: u64) -> String {
        let of = format!("FROM daylight.journal WHERE seq <= {through}");
        self.server.sql(&self.database, &format!("SELECT count(*) || md5(string_agg(body, ' ' ORDER BY seq)) {of}"))
    }
}

async fn change(store: &Store, name: &str) -> Result<Seq, CommitError> {
    store.commit(batch(vec![], vec![setting(name, json!(1))]), &mut job()).await
}

#[tokio::test]
async fn an_empty_folder_puts_back_what_the_database_lacks_before_anything_else_is_written() {
    let machines = Machines::after_a_loss().await;
    let before = machines.rows(LAST);
    // At the end of a segment, in the middle of one, and at the first row.
    for has in [500, 599, 350, 1] {
        machines.server.promote(&machines.database, has);
        let folder = tempfile::tempdir().unwrap();
        machines.there.set(Fault::Fails);
        let store = machines.open(folder.path());
        let refused = error_of(change(&store, "early").await.unwrap_err());
        assert!(matches!(refused, Error::ObjectsAway { .. }), "{refused}");
        assert_eq!(store.last(), Seq(has), "it would have the number of a change that was lost");
        machines.there.set(Fault::None);
        let late = loop {
            match change(&store, "late").await.map_err(error_of) {
                // An attempt from before may be under way.
                Err(Error::ObjectsAway { .. }) => {}
                late => break late,
            }
        };
        // The last change of the machine before may be in no segment.
        assert!(late.unwrap() > Seq(LAST));
        assert_eq!(machines.rows(LAST), before);
        for key in [has + 1, LAST].map(|number| number.to_string()) {
            assert!(store.setting(&key, &mut job()).await.unwrap().is_some(), "{key}");
        }
        store.close();
    }
}

#[tokio::test]
async fn nothing_is_put_back_into_another_history_or_into_an_empty_database() {
    let machines = Machines::after_a_loss().await;
    for has in [LAST - 1, 500, 0] {
        machines.server.promote(&machines.database, has);
        if has > 0 {
            machines.server.add_foreign(&machines.database, has);
        }
        let before = machines.rows(LAST);
        let folder = tempfile::tempdir().unwrap();
        let store = machines.open(folder.path());
        let (bytes, publication) = publication("rack", 1);
        let event = &mut job();
        let mut staged = store.stage(event).await.unwrap();
        staged.write(bytes.into(), event).await.unwrap();
        let holds = vec![staged.keep(event).await.unwrap().hold];
        let refused = store.commit(Batch { holds, ..batch(vec![], vec![publication]) }, event).await;
        let refused = error_of(refused.unwrap_err());
        assert!(matches!(refused, Error::ObjectsAhead { .. }) && refused.hint().is_some(), "{has}: {refused}");
        assert_eq!(machines.rows(LAST), before);
        store.close();
    }
}
