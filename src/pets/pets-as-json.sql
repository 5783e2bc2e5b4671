-- Animals as JSON text, for a WHERE and an ORDER BY to follow; pages-of-pets.sql writes the same text.
SELECT id, format('{"id":%s,"name":%s,"categoryId":%s%s}', id, to_json(name), category_id, ',"status":"' || status || '"')
FROM pets
