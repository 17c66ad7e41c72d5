-- Items are listed by their department, by their tags, and where nobody deals with them.

-- +goose NO TRANSACTION
-- +goose Up

CREATE INDEX IF NOT EXISTS inbox_item_by_department ON inbox_item (org_id, lower(department), id) WHERE department IS NOT NULL;
CREATE INDEX IF NOT EXISTS inbox_item_unassigned ON inbox_item (org_id, id) WHERE assignee_id IS NULL;
-- A tag is found as a term that no word of a contact is: words have no #.
INSERT INTO inbox_term (org_id, term, item_id)
SELECT DISTINCT i.org_id, '#' || t.tag, i.id FROM inbox_item i CROSS JOIN LATERAL unnest(i.tags) AS t (tag)
WHERE EXISTS (SELECT 1 FROM org_fence f WHERE f.org_id = i.org_id AND f.state <> 'moved')
ON CONFLICT (org_id, term, item_id) DO NOTHING;

-- +goose Down
DELETE FROM inbox_term WHERE term LIKE '#%';
DROP INDEX IF EXISTS inbox_item_unassigned;
DROP INDEX IF EXISTS inbox_item_by_department;
