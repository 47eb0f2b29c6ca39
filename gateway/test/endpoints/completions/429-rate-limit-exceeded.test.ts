import { rates } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

rates(completionsEndpoint);
