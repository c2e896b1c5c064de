//! Many at once.

use crate::world::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_who_accept_at_once_one_has_it_and_the_others_are_told_who() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let client = world.client;
    let tasks: Vec<_> = (0..50).map(|_| tokio::spawn(accept(client, &[JSON]))).collect();
    let mut n_accepted = 0;
    for task in tasks {
        let reply = task.await.unwrap();
        if reply.status == 200 {
            n_accepted += 1;
            continue;
        }
        let problem = reply.refuses(409, "already_accepted");
        assert_eq!(problem["holder"], "analyst");
    }
    assert_eq!(n_accepted, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_twenty_with_one_key_all_get_the_answer_of_the_one_that_took_effect() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let client = world.client;
    let headers = &[JSON, ("idempotency-key", "k-1")];
    let tasks: Vec<_> = (0..20).map(|_| tokio::spawn(accept(client, headers))).collect();
    let mut n_first = 0;
    for task in tasks {
        let told = task.await.unwrap().is(200);
        assert_eq!(told["fence"], 1);
        n_first += u32::from(told["isRepeat"] == false);
    }
    assert_eq!(n_first, 1);
}

async fn accept(client: Client, headers: &'static [(&'static str, &'static str)]) -> Reply {
    client.send("POST", "/api/v1/handoffs/1/accept", headers, "{}").await
}
