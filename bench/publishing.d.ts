export function describeMachine(): string;
export function readCommit(folder: string, paths: string[]): string;
export function table(head: string[], rows: string[][]): string;
export function formatMarkdown(text: string): Promise<string>;
export function splitAtMarks(document: string, name: string): Promise<[string, string]>;
export function writeBetweenMarks(document: string, name: string, text: string): Promise<void>;
