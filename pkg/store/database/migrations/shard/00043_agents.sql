-- Which organizations let AI assistants ask their portals.

-- +goose NO TRANSACTION
-- +goose Up

CREATE INDEX IF NOT EXISTS setting_of_agents ON setting (org_id)
    WHERE key = 'agents.enabled' AND scope_kind = 'organization' AND scope_id = '';

-- +goose Down
DROP INDEX IF EXISTS setting_of_agents;
