/** Its message is all that an operator needs: it says what to do, and is reported without a stack. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
