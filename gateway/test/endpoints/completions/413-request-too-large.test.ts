import { tooLarge } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

tooLarge(completionsEndpoint);
