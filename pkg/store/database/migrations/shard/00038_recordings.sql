-- What was heard of sessions whose user agreed to it.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS recording (
    org_id      UUID        NOT NULL,
    session_id  UUID        NOT NULL,
    -- on | ready | failed
    state       TEXT        NOT NULL,
    consent_id  UUID        NOT NULL,
    -- the guardian's consent that a minor's recording rests on as well
    guardian_id UUID,
    -- the consent was withdrawn, under a hold: nobody may hear it, and it goes with the hold
    withdrawn   BOOLEAN     NOT NULL DEFAULT false,
    -- the session's epoch whose owner records
    take        BIGINT      NOT NULL,
    -- what is kept so far, sound and face, in bytes
    bytes       BIGINT      NOT NULL,
    -- when it was joined: where the sound begins in the session, how long it is, and how much
    -- of that is missing
    began_ms    BIGINT      NOT NULL,
    duration_ms BIGINT      NOT NULL,
    missing_ms  BIGINT      NOT NULL,
    sound_id    UUID,
    track_id    UUID,
    created_at  TIMESTAMPTZ NOT NULL,
    -- when the session ended; null while it goes on
    ended_at    TIMESTAMPTZ,
    CONSTRAINT recording_pkey PRIMARY KEY (org_id, session_id)
);

CREATE INDEX IF NOT EXISTS recording_by_guardian ON recording (org_id, guardian_id, session_id) WHERE guardian_id IS NOT NULL;

-- What was recorded at a time, until it is joined.
CREATE TABLE IF NOT EXISTS recording_piece (
    org_id      UUID   NOT NULL,
    session_id  UUID   NOT NULL,
    -- from the start of the session
    at_ms       BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    bytes       BIGINT NOT NULL,
    file_id     UUID   NOT NULL,
    CONSTRAINT recording_piece_pkey PRIMARY KEY (org_id, session_id, at_ms)
);

-- Of a consent to a recording: the session.
ALTER TABLE consent ADD COLUMN IF NOT EXISTS session_id UUID;

-- one for each recording: other kinds are found without going through them
CREATE INDEX IF NOT EXISTS consent_by_kind ON consent (org_id, kind, recorded_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS consent_withdrawn ON consent (org_id, recorded_at DESC, id DESC) WHERE state = 'withdrawn';
CREATE INDEX IF NOT EXISTS consent_by_avatar ON consent (org_id, avatar_id, recorded_at DESC, id DESC) WHERE avatar_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS consent_by_voice ON consent (org_id, voice_id, recorded_at DESC, id DESC) WHERE voice_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS consent_by_membership ON consent (org_id, membership_id, recorded_at DESC, id DESC) WHERE membership_id IS NOT NULL;

-- +goose Down
DROP INDEX IF EXISTS consent_by_membership;
DROP INDEX IF EXISTS consent_by_voice;
DROP INDEX IF EXISTS consent_by_avatar;
DROP INDEX IF EXISTS consent_withdrawn;
DROP INDEX IF EXISTS consent_by_kind;
ALTER TABLE consent DROP COLUMN IF EXISTS session_id;
DROP TABLE IF EXISTS recording_piece;
DROP TABLE IF EXISTS recording;
