import { tooLarge } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

tooLarge(speechEndpoint);
