//! PostgreSQL: one row with its number, and several rows under a number of their own.

use redbolt::Fence;

use super::psql::Psql;
use super::storage::{Storage, StorageError};

pub(crate) const ONE_ROW_TABLE: &str = "\
CREATE TABLE orders (
    id bigint PRIMARY KEY,
    body text NOT NULL,
    fence bigint NOT NULL DEFAULT 0
);
";

pub(crate) const ONE_ROW_MARK: &str = "\
UPDATE orders SET fence = :fence
WHERE id = 42 AND fence <= :fence
RETURNING body;
";

pub(crate) const ONE_ROW_WRITE: &str = "\
UPDATE orders SET body = :'body', fence = :fence
WHERE id = 42 AND fence <= :fence
RETURNING id;
";

pub(crate) const MARKS: &str = "\
CREATE TABLE fences (
    resource text PRIMARY KEY,
    fence bigint NOT NULL
);

CREATE PROCEDURE mark_fence(new_resource text, new_fence bigint)
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO fences (resource, fence) VALUES (new_resource, new_fence)
    ON CONFLICT (resource) DO UPDATE SET fence = excluded.fence
    WHERE fences.fence <= excluded.fence;
    IF NOT FOUND THEN
        RAISE EXCEPTION '% has a newer holder', new_resource USING ERRCODE = 'LATE0';
    END IF;
END $$;
";

pub(crate) const SEVERAL_ROWS_TABLE: &str = "\
CREATE TABLE items (
    order_id bigint,
    position bigint,
    item text NOT NULL,
    PRIMARY KEY (order_id, position)
);
";

pub(crate) const SEVERAL_ROWS_MARK: &str = "\
BEGIN;
CALL mark_fence('orders/42', :fence);
SELECT item FROM items WHERE order_id = 42 ORDER BY position;
COMMIT;
";

pub(crate) const SEVERAL_ROWS_WRITE: &str = "\
BEGIN;
CALL mark_fence('orders/42', :fence);
DELETE FROM items WHERE order_id = 42;
INSERT INTO items (order_id, position, item)
SELECT 42, position, item
FROM unnest(string_to_array(:'items', ' ')) WITH ORDINALITY AS list (item, position);
COMMIT;
";

/// A row of `orders`. Two statements, each of them atomic by itself.
pub(crate) struct OneRow(pub(crate) Psql);

impl OneRow {
    /// Makes the table, and the row: a row that is not there cannot be marked.
    pub(crate) fn create(psql: Psql) -> Result<Self, StorageError> {
        let row = "INSERT INTO orders (id, body) VALUES (42, '');";
        psql.create_schema(&[ONE_ROW_TABLE, row])?;
        Ok(Self(psql))
    }
}

impl Storage for OneRow {
    fn mark_and_read(&self, fence: Fence) -> Result<String, StorageError> {
        let rows = self.0.run(ONE_ROW_MARK, &[("fence", &fence.to_string())])?;
        // No row, and so no line either: the row has a larger number.
        rows.strip_suffix('\n').map(str::to_owned).ok_or(StorageError::Late)
    }

    fn write(&self, fence: Fence, text: &str) -> Result<(), StorageError> {
        let variables = [("fence", &*fence.to_string()), ("body", text)];
        let rows = self.0.run(ONE_ROW_WRITE, &variables)?;
        if rows.is_empty() { Err(StorageError::Late) } else { Ok(()) }
    }

    fn look(&self) -> Result<String, StorageError> {
        let rows = self.0.run("SELECT body FROM orders WHERE id = 42;", &[])?;
        Ok(rows.trim_end_matches('\n').to_owned())
    }
}

/// The rows of `items` that belong to one order, a word of the text in each.
pub(crate) struct SeveralRows(Psql);

impl SeveralRows {
    pub(crate) fn create(psql: Psql) -> Result<Self, StorageError> {
        psql.create_schema(&[MARKS, SEVERAL_ROWS_TABLE])?;
        Ok(Self(psql))
    }
}

impl Storage for SeveralRows {
    fn mark_and_read(&self, fence: Fence) -> Result<String, StorageError> {
        self.0.run(SEVERAL_ROWS_MARK, &[("fence", &fence.to_string())]).map(|rows| words(&rows))
    }

    fn write(&self, fence: Fence, text: &str) -> Result<(), StorageError> {
        let variables = [("fence", &*fence.to_string()), ("items", text)];
        self.0.run(SEVERAL_ROWS_WRITE, &variables).map(|_| ())
    }

    fn look(&self) -> Result<String, StorageError> {
        let rows = "SELECT item FROM items WHERE order_id = 42 ORDER BY position;";
        self.0.run(rows, &[]).map(|rows| words(&rows))
    }
}

fn words(rows: &str) -> String {
    rows.lines().collect::<Vec<_>>().join(" ")
}
