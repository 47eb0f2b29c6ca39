import { rates } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

rates(speechEndpoint);
