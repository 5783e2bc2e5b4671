-- Writes a new order as JSON text from the columns of a request. The optional field is last, as Fastify writes it in lists.
format(
  '{"id":%s,"petId":%s,"quantity":%s,"status":"placed","complete":false%s}',
  id, pet_id, quantity, ',"shipDate":"' || to_char(ship_date AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'
)
