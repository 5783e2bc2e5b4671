/** The reader's time zone, in which times are shown. */
export const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Says once on a page in which zone its times are. */
export const ZONE_TEXT = `Times in ${ZONE}`;
