import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable, Logger } from '@nestjs/common';

/** The maximum memory of all responses that their clients have not read. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/** Connections are closed down to this, so that the next response does not repeat the search. */
const ENOUGH_BYTES = 0.75 * MAX_UNSENT_BYTES;
/** Bytes that every client is taken to have read in the second before, so that a new one is not the slowest. */
const HEAD_START_BYTES = 64 * 1024;
const HEAD_START_MS = 1000;

/** A complete response that the operating system has not accepted whole. */
interface UnsentResponse {
  socket: Socket;
  /** Its memory: all of it until its last byte is accepted. */
  bytes: number;
  /** Bytes that the operating system had not accepted at first. */
  unreadBytes: number;
  sinceMs: number;
}

/** What the client of a connection has read while a response was unsent, and in which time. */
interface Reading {
  bytes: number;
  ms: number;
}

/**
 * Bounds the memory of unread responses over all connections of this process. Connections of the address with the most unread bytes are
 * closed first, the slowest readers among them first, so that one address does not displace others.
 */
@Injectable()
export class UnsentResponses {
  /** Connections closed since the start because their clients read too slowly. */
  closedConnections = 0;
  private readonly logger = new Logger(UnsentResponses.name);
  private readonly unsent = new Map<ServerResponse, UnsentResponse>();
  /** Of earlier responses, by connection. */
  private readonly readings = new WeakMap<Socket, Reading>();
  /** Responses whose body is shared by all clients. */
  private readonly shared = new WeakSet<ServerResponse>();
  private bytes = 0;

  /** Counts the responses of a server from now on. */
  watch(server: Server): void {
    // Before all other listeners, one of which may respond at once.
    server.prependListener('request', (_request, response: ServerResponse) => {
      response.once('prefinish', () => this.add(response));
    });
  }

  /** Does not count a response whose body is in memory once for all clients. */
  leaveOut(response: ServerResponse): void {
    this.shared.add(response);
  }

  private add(response: ServerResponse): void {
    const { socket } = response;
    // The operating system accepts nearly every response at once.
    if (socket === null || socket.writableLength === 0 || this.shared.has(response)) {
      return;
    }
    const bytes = socket.writableLength;
    this.unsent.set(response, {
      socket,
      bytes,
      unreadBytes: unreadBytesOf(socket),
      sinceMs: performance.now(),
    });
    this.bytes += bytes;
    response.once('close', () => this.remove(response));
    if (this.bytes > MAX_UNSENT_BYTES) {
      this.closeSlowest();
    }
  }

  private remove(response: ServerResponse): void {
    const unsent = this.unsent.get(response);
    if (unsent !== undefined) {
      this.bytes -= unsent.bytes;
      this.unsent.delete(response);
      this.readings.set(unsent.socket, this.readingOf(unsent, performance.now()));
    }
  }

  private readingOf({ socket, unreadBytes, sinceMs }: UnsentResponse, nowMs: number): Reading {
    const before = this.readings.get(socket) ?? { bytes: HEAD_START_BYTES, ms: HEAD_START_MS };
    return {
      bytes: before.bytes + unreadBytes - unreadBytesOf(socket),
      ms: before.ms + nowMs - sinceMs,
    };
  }

  private closeSlowest(): void {
    const nowMs = performance.now();
    const byAddress = new Map<string | undefined, number>();
    for (const { socket, bytes } of this.unsent.values()) {
      byAddress.set(socket.remoteAddress, (byAddress.get(socket.remoteAddress) ?? 0) + bytes);
    }
    const order = [...this.unsent]
      .map(([response, unsent]) => {
        const { socket } = unsent;
        const { bytes, ms } = this.readingOf(unsent, nowMs);
        return { response, socket, addressBytes: byAddress.get(socket.remoteAddress) ?? 0, rate: bytes / ms };
      })
      .toSorted((one, other) => other.addressBytes - one.addressBytes || one.rate - other.rate);
    for (const { response, socket } of order) {
      if (this.bytes <= ENOUGH_BYTES) {
        break;
      }
      this.remove(response);
      // An orderly close would leave the unsent bytes to the operating system.
      socket.resetAndDestroy();
      this.closedConnections += 1;
    }
    this.logger.warn(
      `Clients read too slowly: ${MAX_UNSENT_BYTES} bytes of responses were unsent. Connections closed so far: ${this.closedConnections}`,
    );
  }
}

/** Returns the bytes that the operating system has not accepted. Node has no public property for the progress of a write. */
function unreadBytesOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle: { writeQueueSize: number } | null };
  return handle?.writeQueueSize ?? 0;
}
