import { timeouts } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

timeouts(speechEndpoint);
