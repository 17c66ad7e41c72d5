-- Sessions that take place in a room of the organisation's own media server.

-- +goose NO TRANSACTION
-- +goose Up

-- The connection to the server; null for sessions over our own sockets.
ALTER TABLE session ADD COLUMN IF NOT EXISTS media_id UUID;
-- From when on a process may take it upon itself to be in the room as the persona; null
-- while one runs the session, and where none is needed. The claim is the lease of one
-- that waits there for the visitor.
ALTER TABLE session ADD COLUMN IF NOT EXISTS room_due_at TIMESTAMPTZ;
ALTER TABLE session ADD COLUMN IF NOT EXISTS room_claim UUID;
CREATE INDEX IF NOT EXISTS session_room_due ON session (room_due_at) WHERE room_due_at IS NOT NULL;

-- +goose Down
DROP INDEX IF EXISTS session_room_due;
ALTER TABLE session DROP COLUMN IF EXISTS room_claim;
ALTER TABLE session DROP COLUMN IF EXISTS room_due_at;
ALTER TABLE session DROP COLUMN IF EXISTS media_id;
