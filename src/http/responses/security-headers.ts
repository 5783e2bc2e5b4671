/**
 * Headers of every response: a browser must not guess its type, load anything for it, or show it in a frame.
 */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/**
 * Returns the headers of a page, which loads files of this service, and sends it requests. It has no inline
 * scripts.
 */
export function pageHeaders(inlineStyles = '') {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${inlineStyles}`.trimEnd(),
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { 'Content-Security-Policy': policy.join('; '), 'Referrer-Policy': 'no-referrer' };
}
