import { unavailable } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

unavailable(completionsEndpoint);
