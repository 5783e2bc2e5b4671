declare module 'cluster-key-slot' {
  /** Returns the slot of a key in a Cluster. */
  export default function calculateSlot(key: string): number;
}
