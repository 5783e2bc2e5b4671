import { parseTraceParent } from './trace-parent.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('parseTraceParent', () => {
  it.each([
    ['in the current version', `00-${TRACE}-${SPAN}-01`, TRACE],
    ['with more fields in a later version', `cc-${TRACE}-${SPAN}-00-more`, TRACE],
    ['that begin with zeros', `00-0000${TRACE.slice(4)}-${SPAN}-01`, `0000${TRACE.slice(4)}`],
  ])('returns the identifiers of a trace and a span %s', (_how, header, traceId) => {
    expect(parseTraceParent(header)).toEqual({ trace_id: traceId, span_id: SPAN });
  });

  it.each([
    '',
    'x',
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `x00-${TRACE}-${SPAN}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01\n`,
  ])('returns null for %j', (header) => {
    expect(parseTraceParent(header)).toBeNull();
  });
});
