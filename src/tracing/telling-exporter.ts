import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';

/** Tells once that spans cannot be sent, and once that they can again. Nobody else is told: those that were lost are lost. */
export class TellingExporter implements SpanExporter {
  private isAway = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly tell: (line: string) => void,
  ) {}

  export(spans: ReadableSpan[], exported: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      this.hear(result);
      exported({ code: ExportResultCode.SUCCESS });
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private hear({ code, error }: ExportResult): void {
    const isAway = code !== ExportResultCode.SUCCESS;
    if (isAway && !this.isAway) {
      this.tell(
        `Spans cannot be sent, and are lost until they can: ${error?.message ?? 'no reason was given'}`,
      );
    }
    if (!isAway && this.isAway) {
      this.tell('Spans are sent again');
    }
    this.isAway = isAway;
  }
}
