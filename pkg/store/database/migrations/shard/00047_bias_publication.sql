-- Audits of bias that organizations show on their portals' pages.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS bias_publication (
    org_id       UUID        NOT NULL,
    portal_id    UUID        NOT NULL,
    -- of the cohorts that are shown
    year         BIGINT      NOT NULL,
    -- whether categories of less than 2 % are left out of the ratios
    leave_out    BOOLEAN     NOT NULL,
    published_by TEXT        NOT NULL,
    published_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT bias_publication_pkey PRIMARY KEY (org_id, portal_id)
);

-- +goose Down
DROP TABLE IF EXISTS bias_publication;
