import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable, Logger } from '@nestjs/common';

/** What this process holds at most of responses that their clients have not read, in bytes. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/** Closing connections stops here, so that the slowest readers are not looked for again with the next response. */
const ENOUGH_BYTES = 0.75 * MAX_UNSENT_BYTES;
/** Every client counts as if it had read so many bytes in the second before, so that a new one is not taken for the slowest. */
const HEAD_START_BYTES = 64 * 1024;
const HEAD_START_MS = 1000;
const REPORT_INTERVAL_MS = 1000;

/** A response that is made, and that the operating system has not taken whole. */
interface UnsentResponse {
  socket: Socket;
  /** What it takes in memory: all of it until its last byte is gone. */
  bytes: number;
  /** What the operating system had not taken at first. */
  unreadBytes: number;
  sinceMs: number;
}

/** How the client of a connection has read, while a response was unsent. */
interface Reading {
  bytes: number;
  ms: number;
}

/**
 * Bounds the bytes of unread responses for all connections of this process together. Connections of the address that leaves most unread are
 * closed first, the slowest readers among them first: so one address does not displace others.
 */
@Injectable()
export class UnsentResponses {
  /** Connections closed since the start, as their clients read too slowly. */
  closedConnections = 0;
  private readonly logger = new Logger(UnsentResponses.name);
  private readonly unsent = new Map<ServerResponse, UnsentResponse>();
  /** Of the responses before, by connection. */
  private readonly readings = new WeakMap<Socket, Reading>();
  /** Responses whose body is not a copy of their own. */
  private readonly shared = new WeakSet<ServerResponse>();
  private bytes = 0;
  private reportedAtMs = -Infinity;

  /** Counts the responses of a server from now on. */
  watch(server: Server): void {
    // Before all other listeners, one of which may respond at once.
    server.prependListener('request', (_request, response: ServerResponse) => {
      response.once('prefinish', () => this.add(response));
    });
  }

  /** Leaves out a response whose body is held once for all clients, read or not. */
  leaveOut(response: ServerResponse): void {
    this.shared.add(response);
  }

  private add(response: ServerResponse): void {
    const { socket } = response;
    // Nearly every response is gone at once, into the buffers of the operating system.
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
        return { response, socket, ofAddress: byAddress.get(socket.remoteAddress) ?? 0, rate: bytes / ms };
      })
      .toSorted((one, other) => other.ofAddress - one.ofAddress || one.rate - other.rate);
    for (const { response, socket } of order) {
      if (this.bytes <= ENOUGH_BYTES) {
        break;
      }
      this.remove(response);
      // An orderly close would leave what is unsent to the operating system.
      socket.resetAndDestroy();
      this.closedConnections += 1;
    }
    if (nowMs - this.reportedAtMs >= REPORT_INTERVAL_MS) {
      this.reportedAtMs = nowMs;
      this.logger.warn(
        `Clients read too slowly: ${MAX_UNSENT_BYTES} bytes of responses were unsent. Connections closed so far: ${this.closedConnections}`,
      );
    }
  }
}

/** What the operating system has not taken. Node offers no public way to see how much of a write in progress is done. */
function unreadBytesOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle: { writeQueueSize: number } | null };
  return handle?.writeQueueSize ?? 0;
}
