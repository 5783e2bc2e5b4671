-- The pages that many requests ask for, each from its own place: $1 the numbers of the pages, $2 the identifier after which
-- each begins, $3 the status of its animals or NULL for all, $4 how many animals it has at the most.
--
-- The body is written here: to read twenty animals field by field, and to write them again, costs the service more than
-- all else that it does for a page. One animal more is looked for, which tells whether there is a next page; it begins
-- after the last one shown, last_id.
--
-- Each half is gated by a condition on the page alone, so that the other one is not even begun. A filtered page is found by
-- comparing both columns of the index, as its beginning is there: by status alone its reading would begin with the
-- first animal of that status, and by the primary key it might pass by all animals of others.
--
-- The arrays are read by SELECTs of their own, which hide their length from the planner: where it sees it, a plan for that
-- length looks cheaper than one for all, and each question is planned anew, which costs twice what its answer does.
SELECT
  page.number,
  '[' || coalesce(array_to_string(animals.texts[:page.size], ','), '') || ']' AS body,
  CASE WHEN cardinality(animals.ids) > page.size THEN animals.ids[page.size] END AS last_id
FROM
  unnest(
    (SELECT $1::int[]), (SELECT $2::bigint[]), (SELECT $3::pet_status[]), (SELECT $4::int[])
  ) AS page (number, after, status, size),
  LATERAL (
    SELECT
      array_agg(pet.id) AS ids,
      array_agg(
        format(
          '{"id":%s,"name":%s,"categoryId":%s%s}',
          pet.id, to_json(pet.name), pet.category_id, ',"status":"' || pet.status || '"'
        )
      ) AS texts
    FROM (
      (
        SELECT * FROM pets
        WHERE page.status IS NULL AND pets.id > page.after
        ORDER BY pets.id
        LIMIT page.size + 1
      )
      UNION ALL
      (
        SELECT * FROM pets
        WHERE (pets.status, pets.id) > (page.status, page.after) AND pets.status <= page.status
        ORDER BY pets.status, pets.id
        LIMIT page.size + 1
      )
    ) AS pet
  ) AS animals
