/** Returns 128 random bits in hexadecimal. Not `crypto.randomUUID`, which pages loaded over plain HTTP lack. */
export function randomText(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
