import { kindOf } from "../door.js";
import { isBytes } from "../response.js";

export type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** What is told of a body that flows. */
interface Course {
  passed?: (piece: Uint8Array) => void;
  ended?: () => Promise<void>;
  broken: (error: unknown) => Promise<void> | void;
  /** The reader has gone away; is given what reads the rest. */
  left: (rest: Promise<void>) => void;
}

/** Not every platform tells what is garbage. */
const FORGOTTEN: Pick<FinalizationRegistry<Source>, "register" | "unregister"> =
  typeof FinalizationRegistry === "undefined"
    ? { register: () => undefined, unregister: () => true }
    : new FinalizationRegistry((source) => source.leave());

/**
 * A body that flows: `beginning`, and then what the reader reads. Whoever goes away does not stop what makes it: the rest is read all the
 * same (H9). A body that nobody has any more is left like one that was cancelled, once it is collected.
 */
export function poured(reader: Reader, beginning: Uint8Array[], course: Course): ReadableStream<Uint8Array> {
  const source = new Source(reader, beginning, course);
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => source.pull(controller),
    cancel: () => source.leave(),
  });
  FORGOTTEN.register(stream, source, source);
  return stream;
}

/** What a body comes from. It does not have the body itself, which could not be forgotten otherwise. */
class Source {
  readonly #reader: Reader;
  readonly #pieces: Uint8Array[];
  readonly #course: Course;
  /** Two may read when it ends: whoever has left, and who reads the rest. */
  #end: Promise<void> | undefined;

  constructor(reader: Reader, beginning: Uint8Array[], course: Course) {
    this.#reader = reader;
    this.#pieces = beginning;
    this.#course = course;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const beginning = this.#pieces.shift();
    if (beginning) return controller.enqueue(beginning);
    try {
      const piece = await this.#next();
      if (piece === null) controller.close();
      else controller.enqueue(piece);
    } catch (error) {
      controller.error(error);
    }
  }

  /** Nobody reads on. */
  leave(): void {
    FORGOTTEN.unregister(this);
    this.#course.left(this.#rest());
  }

  /** The next piece; null at the end, when it is stored. */
  async #next(): Promise<Uint8Array | null> {
    let piece: Uint8Array | null;
    try {
      const read = await this.#reader.read();
      piece = read.done ? null : bytesOf(read.value);
    } catch (error) {
      await this.#over(() => this.#course.broken(error));
      throw error;
    }
    if (piece === null) await this.#over(() => this.#course.ended?.());
    else this.#course.passed?.(piece);
    return piece;
  }

  async #over(tell: () => Promise<void> | void): Promise<void> {
    FORGOTTEN.unregister(this);
    await (this.#end ??= (async () => tell())());
  }

  async #rest(): Promise<void> {
    try {
      while ((await this.#next()) !== null);
    } catch {
      // It was told of.
    }
  }
}

export function bytesOf(piece: unknown): Uint8Array {
  if (isBytes(piece)) return piece;
  throw new TypeError(`a body's pieces are Uint8Array, and not ${kindOf(piece)}`);
}
