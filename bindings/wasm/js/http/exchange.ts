import type { Claim } from "../claim.js";
import { KeyledgerError } from "../errors.js";
import { joined } from "../joined.js";
import { type NativeAsked, NativeRoute } from "../native/keyledger.js";
import { type NativeAnswer, flat, flowingOf, hasNoBody, responseOf, wholeOf } from "./answer.js";
import { type Reader, bytesOf, poured } from "./pouring.js";

const NOTHING = new Uint8Array();

interface Conclusion {
  fields?: string[];
  answer?: NativeAnswer;
  error?: unknown;
}

/** Who is told of an exchange: of errors, and of what goes on after it is answered. Neither throws. */
interface Told {
  tell: (error: unknown) => void;
  lasts: (promise: Promise<void>) => void;
}

/** One request under a claim: what the handler answers is held back until its outcome is stored (H8, H9). */
export class Exchange {
  /** Is fulfilled when the handler has ended and its outcome is stored, whoever still listens, and whoever never reads it. */
  readonly isOver: Promise<void>;
  readonly #route: NativeRoute;
  readonly #asked: NativeAsked;
  readonly #claim: Claim;
  readonly #method: string;
  readonly #told: Told;
  readonly #heart: ReturnType<typeof setInterval>;
  #over: () => void = () => {};

  constructor(route: NativeRoute, asked: NativeAsked, claim: Claim, method: string, told: Told) {
    this.#route = route;
    this.#asked = asked;
    this.#claim = claim;
    this.#method = method;
    this.#told = told;
    this.isOver = new Promise((resolve) => (this.#over = resolve));
    this.#heart = setInterval(() => this.#beat(), Math.min(route.heartbeatMs, 0x7fffffff));
  }

  /** Runs the handler, and says what is sent. Never throws. */
  async run(handler: (claim: Claim) => Response | Promise<Response>): Promise<Response> {
    try {
      return await this.#ran(handler);
    } catch (error) {
      this.#told.tell(error);
      this.#end();
      return responseOf(this.#route.refusal("not-available") as NativeAnswer, this.#method);
    }
  }

  async #ran(handler: (claim: Claim) => Response | Promise<Response>): Promise<Response> {
    let response: Response;
    try {
      response = await handler(this.#claim);
      if (!(response instanceof Response)) throw new TypeError("the handler has returned what is no Response");
      if (response.status < 200) throw new TypeError(`the handler has returned a response that is none: its status is ${response.status}`);
      if (response.bodyUsed || response.body?.locked) throw new TypeError("the body of the handler's response was read before");
    } catch (error) {
      return this.#failed(error);
    }
    // What the handler has stored is the answer, and has an end (H14); a response that ends with its head has nothing that flows.
    await this.#claim.isIdle();
    const flows = this.#route.isStream && !this.#claim.isSettled && !hasNoBody(response.status, this.#method);
    return flows ? this.#stream(response) : this.#hold(response);
  }

  /** Holds the body back until it ends or passes the limit. */
  async #hold(response: Response): Promise<Response> {
    const reader = response.body?.getReader();
    const pieces: Uint8Array[] = [];
    let length = 0;
    try {
      for (let read; reader && !(read = await reader.read()).done; ) {
        pieces.push(bytesOf(read.value));
        length += read.value.length;
        // One that ends with this, by its own word, is known whole: its length and hash can be told (H11).
        if (length > this.#route.maxBodyBytes && String(length) !== response.headers.get("content-length")) {
          return await this.#pastLimit(response, reader, pieces);
        }
      }
    } catch (error) {
      return this.#failed(error);
    }
    const body = joined(pieces, length);
    const { fields, answer } = await this.#conclude(response, body, false);
    this.#end();
    return answer ? responseOf(answer, this.#method) : wholeOf(response, body, fields ?? [], this.#method);
  }

  async #pastLimit(response: Response, reader: Reader, pieces: Uint8Array[]): Promise<Response> {
    const { fields, answer } = await this.#conclude(response, NOTHING, true);
    this.#end();
    if (answer || hasNoBody(response.status, this.#method)) {
      this.#told.lasts(this.#drain(reader));
      return answer ? responseOf(answer, this.#method) : wholeOf(response, NOTHING, fields ?? [], this.#method);
    }
    const { tell: broken, lasts: left } = this.#told;
    return flowingOf(response, poured(reader, pieces, { broken, left }), fields ?? []);
  }

  /** H8: what comes leaves at once; the end is told when it is stored. */
  #stream(response: Response): Response {
    let copy: Uint8Array[] | null = [];
    let length = 0;
    const stream = poured((response.body ?? empty()).getReader(), [], {
      passed: (piece) => {
        length += piece.length;
        copy = copy === null || length > this.#route.maxBodyBytes ? null : [...copy, piece];
      },
      ended: async () => {
        const isWhole = copy !== null;
        try {
          await this.#conclude(response, isWhole ? joined(copy ?? [], length) : NOTHING, !isWhole);
        } finally {
          this.#end();
        }
      },
      broken: async (error) => void (await this.#failed(error)),
      left: (rest) => this.#told.lasts(rest),
    });
    return flowingOf(response, stream, NativeRoute.exposed() as string[]);
  }

  async #conclude(response: Response, body: Uint8Array, isPastLimit: boolean): Promise<Conclusion> {
    await this.#claim.isIdle();
    const { status, headers } = response;
    const told = await this.#asked.conclude(this.#claim.native, status, flat(headers), body, isPastLimit);
    return this.#heard(told as Conclusion);
  }

  async #failed(error: unknown): Promise<Response> {
    this.#told.tell(error);
    try {
      await this.#claim.isIdle();
      const { answer } = this.#heard((await this.#asked.concludeFailure(this.#claim.native)) as Conclusion);
      return responseOf(answer as NativeAnswer, this.#method);
    } finally {
      this.#end();
    }
  }

  #heard(told: Conclusion): Conclusion {
    if (told.error) this.#told.tell(told.error);
    return told;
  }

  /** A client that has gone does not stop what makes the body (H9). */
  async #drain(reader: Reader): Promise<void> {
    try {
      while (!(await reader.read()).done);
    } catch (error) {
      this.#told.tell(error);
    }
  }

  /** H10. A claim found lost, or whose ledger is closed, is not renewed any more; what cannot be stored now is tried at the next beat. */
  #beat(): void {
    try {
      this.#claim.heartbeatSync();
    } catch (error) {
      const code = error instanceof KeyledgerError ? error.code : "";
      if (code === "claim_lost" || code === "closed") clearInterval(this.#heart);
    }
  }

  #end(): void {
    clearInterval(this.#heart);
    this.#over();
  }
}

function empty(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}
