/** Returns 128 random bits in hexadecimal. Pages loaded over plain HTTP lack `crypto.randomUUID`. */
export function randomText(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
