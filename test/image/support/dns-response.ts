const HEADER_BYTES = 12;
const TYPE_A = 1;
const RESPONSE = 0x8180;
const NO_SUCH_NAME = 3;
/** As Docker's DNS server sets it. */
const TTL_SECONDS = 600;

/** Returns the response to a DNS query for one name (RFC 1035), with an A record for each address of that name. */
export function dnsResponse(query: Buffer, addressesOf: (name: string) => string[]): Buffer {
  const labels: string[] = [];
  let end = HEADER_BYTES;
  for (let length = query.readUInt8(end); length > 0; length = query.readUInt8(end)) {
    labels.push(query.toString('latin1', end + 1, end + 1 + length));
    end += 1 + length;
  }
  const type = query.readUInt16BE(end + 1);
  const addresses = addressesOf(labels.join('.').toLowerCase());
  const records = type === TYPE_A ? addresses.map(addressRecord) : [];

  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(RESPONSE | (addresses.length === 0 ? NO_SUCH_NAME : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end + 5), ...records]);
}

function addressRecord(address: string): Buffer {
  const record = Buffer.alloc(16);
  // The name is the one that was queried.
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  record.writeUInt16BE(TYPE_A, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(TTL_SECONDS, 6);
  record.writeUInt16BE(4, 10);
  record.set(address.split('.').map(Number), 12);
  return record;
}
