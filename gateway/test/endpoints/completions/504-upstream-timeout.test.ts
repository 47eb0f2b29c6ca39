import { timeouts } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

timeouts(completionsEndpoint);
