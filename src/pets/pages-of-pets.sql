-- The animals of many pages: $1 the numbers of the pages, $2 the identifier after which each begins, $3 the
-- status of its animals or NULL for all, $4 the maximum of its animals. The repository names the columns.
--
-- A condition on the page alone disables one half of the UNION. A filtered page compares both columns of the
-- index: by status alone it would start at the first animal of that status, and by the primary key it might
-- pass all animals of others.
--
-- The arrays are read by SELECTs of their own, which hide their length from the planner: otherwise it plans
-- each execution anew, which costs twice as much as the execution.
SELECT page.number, pet.*
FROM
  unnest(
    (SELECT $1::int[]), (SELECT $2::bigint[]), (SELECT $3::pet_status[]), (SELECT $4::int[])
  ) AS page (number, after, wanted_status, size),
  LATERAL (
    (
      SELECT * FROM pets
      WHERE page.wanted_status IS NULL AND pets.id > page.after
      ORDER BY pets.id
      LIMIT page.size
    )
    UNION ALL
    (
      SELECT * FROM pets
      WHERE (pets.status, pets.id) > (page.wanted_status, page.after) AND pets.status <= page.wanted_status
      ORDER BY pets.status, pets.id
      LIMIT page.size
    )
  ) AS pet
