-- Sessions that take place in a room of the organisation's own media server.

-- +goose Up

-- The connection to the server; null for sessions over our own sockets.
ALTER TABLE session ADD COLUMN media_id UUID;
-- From when on a process may take it upon itself to be in the room as the persona; null
-- while one runs the session, and where none is needed. The claim is the lease of one
-- that waits there for the visitor.
ALTER TABLE session ADD COLUMN room_due_at TIMESTAMPTZ;
ALTER TABLE session ADD COLUMN room_claim UUID;
CREATE INDEX session_room_due ON session (room_due_at) WHERE room_due_at IS NOT NULL;

-- +goose Down
DROP INDEX session_room_due;
ALTER TABLE session DROP COLUMN room_claim;
ALTER TABLE session DROP COLUMN room_due_at;
ALTER TABLE session DROP COLUMN media_id;
