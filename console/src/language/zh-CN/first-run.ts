import type { Translation } from "../catalogue.ts";
import type { firstRun as english } from "../en/first-run.ts";

export const firstRun: Translation<typeof english> = {
  stepOf: "Step {place} of {length}: {title}.",
  chooseWhatKindItIs: "Choose what kind it is, give its key, and it is tried at once.",
  chooseWhatYourProgramsMay: "Choose what your programs may ask for.",
  theQuestionIsWrittenAlready: "The question is written already: send it.",
  seeItExplained: "See it explained",
  theFirstCallIsMade: "The first call is made.",
  firstSteps: "First steps",
  hideTheFirstSteps: "Hide the first steps",
  sayHelloAndTellMe: "Say hello, and tell me in one sentence what a model gateway does.",
  theBuiltInDemoAnswers:
    "The built-in demo answers for now. Add an account of yours at OpenAI, Anthropic, or wherever your models run.",
  anAccountAtOpenaiAnthropic: "An account at OpenAI, Anthropic, or wherever your models run.",
  addProvider: "Add provider",
  chooseModels: "Choose models",
  theNamesThatProgramsAsk: "The names that programs ask for. A provider's own list is taken over with a few clicks.",
  thereIsOnePrintedWhere: "There is one, printed where the gateway was first started. Make one for each program.",
  oneForEachProgramIt: "One for each program. It carries the limits and the budget.",
  makeKey: "Make key",
  getTheFirstAnswer: "Get the first answer",
  inThePlaygroundWithOne: "In the playground with one click; or from a shell, an SDK or a coding agent.",
  openPlayground: "Open playground",
};
