import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';

/**
 * Logs once that spans cannot be sent, and once that they can be again. It reports success to the span processor in both cases, as
 * lost spans are not retried.
 */
export class FailureLoggingExporter implements SpanExporter {
  private isAway = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly log: (line: string) => void,
  ) {}

  export(spans: ReadableSpan[], exported: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      this.logChange(result);
      exported({ code: ExportResultCode.SUCCESS });
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private logChange({ code, error }: ExportResult): void {
    const isAway = code !== ExportResultCode.SUCCESS;
    if (isAway && !this.isAway) {
      this.log(`Spans cannot be sent and are lost: ${error?.message ?? 'no reason was given'}`);
    }
    if (!isAway && this.isAway) {
      this.log('Spans are sent again');
    }
    this.isAway = isAway;
  }
}
