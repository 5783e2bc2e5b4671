/** What every answer tells a browser: it is nothing but what its type says, loads and runs nothing, and stands in no frame. */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;
