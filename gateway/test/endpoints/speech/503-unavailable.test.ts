import { unavailable } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

unavailable(speechEndpoint);
