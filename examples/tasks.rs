//! Tasks on a runtime. This example uses tokio; the client works with any runtime.
//!
//! ```text
//! cargo run --example tasks --features embedded
//! cargo run --example tasks -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```

mod common;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use redbolt::{Client, Config, LockError};
use tokio::task::JoinSet;

fn main() -> ExitCode {
    common::run(example)
}

fn example(config: Config) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
    runtime.block_on(async {
        let client = Client::new(config)?;
        let mut tasks = JoinSet::new();
        for number in 1..=100 {
            tasks.spawn(bill(client.clone(), number % 10));
        }
        while let Some(result) = tasks.join_next().await {
            result??;
        }
        println!("{}", client.shutdown(Duration::from_secs(1)).await);
        Ok(())
    })
}

async fn bill(client: Client, order: u32) -> Result<(), LockError> {
    let request = client.lock(format!("orders/{order}")).wait(Duration::from_secs(10));
    // Dropping this future, as a timeout does, cancels the request and leaves nothing behind.
    let guard = request.await?;
    println!("order {order} is ours for {:?}", guard.remaining());
    if let Ok(report) = guard.release().await {
        println!("order {order}: {report}");
    }
    Ok(())
}
