import { render } from "preact";

render(<p>Not built yet.</p>, document.getElementById("page")!);
