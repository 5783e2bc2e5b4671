-- An animal as JSON text: by the columns of the table, or of a request with the same names.
format('{"id":%s,"name":%s,"categoryId":%s%s}', id, to_json(name), category_id, ',"status":"' || status || '"')
