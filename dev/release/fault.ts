/** A change that breaks what the last release promised. */
export interface Fault {
  /** Where it is, such as `GET /v1/pets → 200 → Pet.status` or `metrics → animal_store_build_info`. */
  place: string;
  /** What changed, and what to do: sentences. */
  problem: string;
}
