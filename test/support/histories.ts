import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/** Temporal's own JSON form of one event: a type, and attributes under a name that follows from it. */
export interface HistoryEvent {
  readonly eventType: string;
  readonly [name: string]: unknown;
}

export interface HistoryFile {
  readonly events: readonly HistoryEvent[];
}

export interface RecordedHistory {
  readonly name: string;
  readonly history: HistoryFile;
}

/** What a workflow, or somebody who calls it, put into Temporal. */
export interface PayloadText {
  readonly event: string;
  readonly bytes: number;
  readonly value: unknown;
}

const FOLDER = join(import.meta.dirname, '..', 'workflows', 'histories');

export function readHistories(): RecordedHistory[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      name: file.slice(0, -'.json'.length),
      history: JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as HistoryFile,
    }));
}

export function writeHistory({ name, history }: RecordedHistory): void {
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(withoutMachine(history), null, 1)}\n`);
}

/** As fetched from a server, in the form in which it is kept. */
export function historyFile(history: Parameters<typeof historyToJSON>[0]): HistoryFile {
  return JSON.parse(historyToJSON(history)) as HistoryFile;
}

/** Fields that name the machine of the recording, or its folders; a replay looks at none of them. */
const NEUTRAL: Readonly<Record<string, unknown>> = { identity: 'recorded', binaryChecksum: undefined, stackTrace: '' };

function withoutMachine(history: HistoryFile): unknown {
  const text = JSON.stringify(history, (key, value: unknown) =>
    Object.hasOwn(NEUTRAL, key) && value !== undefined ? NEUTRAL[key] : value,
  );
  return JSON.parse(text.replaceAll(/"purchases-[0-9a-f-]{36}"/g, '"purchases"'));
}

/**
 * The events that a workflow's code decides, in words and in their order, with the messages that came from outside between
 * them. Replay compares commands by kind and id alone; these lines also hold names, rounded times and shown values.
 */
export function commandsOf({ events }: HistoryFile): string[] {
  return events.flatMap((event) => WORDS[event.eventType.replace('EVENT_TYPE_', '')]?.(attributesOf(event)) ?? []);
}

type Attributes = Readonly<Record<string, unknown>>;

const WORDS: Readonly<Record<string, (attributes: Attributes) => string>> = {
  MARKER_RECORDED: ({ details }) => `local ${activityTypeOf(details)}`,
  ACTIVITY_TASK_SCHEDULED: ({ activityType }) => `activity ${nameOf(activityType)}`,
  ACTIVITY_TASK_CANCEL_REQUESTED: () => 'activity cancelled',
  TIMER_STARTED: ({ startToFireTimeout }) => `timer ${roundedTime(startToFireTimeout)}`,
  TIMER_CANCELED: () => 'timer cancelled',
  UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: ({ searchAttributes }) => `shows ${shownIn(searchAttributes)}`,
  WORKFLOW_EXECUTION_SIGNALED: ({ signalName }) => `signal ${String(signalName)}`,
  WORKFLOW_EXECUTION_UPDATE_ACCEPTED: ({ acceptedRequest }) => `update ${updateNameIn(acceptedRequest)}`,
  WORKFLOW_EXECUTION_UPDATE_COMPLETED: () => 'update answered',
  WORKFLOW_EXECUTION_COMPLETED: ({ result }) => `ends ${JSON.stringify(payloadsIn(result)[0]?.value)}`,
  WORKFLOW_EXECUTION_FAILED: () => 'fails',
};

function attributesOf(event: HistoryEvent): Attributes {
  const name = Object.keys(event).find((key) => key.endsWith('EventAttributes'));
  return (name === undefined ? {} : event[name]) as Attributes;
}

function nameOf(type: unknown): string {
  return (type as { readonly name: string }).name;
}

function activityTypeOf(details: unknown): string {
  const [payload] = payloadsIn((details as { readonly data: unknown }).data);
  return (payload as { readonly value: { readonly activity_type: string } }).value.activity_type;
}

function updateNameIn(request: unknown): string {
  return (request as { readonly input: { readonly name: string } }).input.name;
}

function shownIn(searchAttributes: unknown): string {
  const { indexedFields } = searchAttributes as { readonly indexedFields: Readonly<Record<string, unknown>> };
  return Object.keys(indexedFields)
    .sort()
    .map((name) => `${name}=${String(payloadsIn(indexedFields[name])[0]?.value)}`)
    .join(' ');
}

/** Waits until an hour of the clock come out some milliseconds short, so times are told to the nearest whole unit. */
function roundedTime(duration: unknown): string {
  const seconds = Number.parseFloat(String(duration));
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 90 * 60 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** Every payload of a history: arguments, results, signals, updates, search attributes, summaries, failures' details. */
export function payloadsOf({ events }: HistoryFile): PayloadText[] {
  return events.flatMap((event) => payloadsIn(event).map((payload) => ({ ...payload, event: event.eventType })));
}

function payloadsIn(value: unknown): PayloadText[] {
  if (typeof value !== 'object' || value === null) return [];
  const { metadata, data } = value as { readonly metadata?: { readonly encoding?: string }; readonly data?: unknown };
  if (metadata?.encoding === undefined) return Object.values(value).flatMap(payloadsIn);
  const bytes = Buffer.from(typeof data === 'string' ? data : '', 'base64');
  const isJson = Buffer.from(metadata.encoding, 'base64').toString('utf8') === 'json/plain';
  return [{ event: '', bytes: bytes.length, value: isJson ? (JSON.parse(bytes.toString('utf8')) as unknown) : null }];
}
