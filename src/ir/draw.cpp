#include "ir/draw.h"

#include "ir/layered_layout.h"
#include "ir/op_info.h"
#include "ir/print.h"

namespace ingot {
namespace {

constexpr double kRowHeight = 64, kBoxHeight = 34, kMargin = 20, kGap = 16;
constexpr double kCharacter = 6.6;  // average width of one, at 11 pixels of the sans-serif font
constexpr size_t kLongestLabel = 36;

struct Drawing {
  struct Box {
    std::string title, detail, tooltip;
    const char* colour;
  };
  Layout layout;
  std::vector<Box> boxes;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
  }
  return out;
}

// Cut in the middle of no character of UTF-8.
std::string shortened(std::string text) {
  if (text.size() <= kLongestLabel) return text;
  size_t end = kLongestLabel - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

const char* colour_of(const OpInfo& info) {
  if (info.op == Op::Input) return "#d9ead3";
  if (info.is(Contraction)) return "#f9cb9c";
  if (info.is(Control)) return "#ead1dc";
  if (info.is(Movement)) return "#e8e8e8";
  if (info.is(Pointwise)) return "#cfe2f3";
  return "#fff2cc";
}

void add_box(Drawing& d, Drawing::Box box) {
  const size_t longest = std::max(box.title.size(), box.detail.size());
  d.layout.boxes.push_back({.width = std::max(60.0, kCharacter * static_cast<double>(longest) + 16)});
  d.boxes.push_back(std::move(box));
}

std::string types_text(const Node& node) {
  std::string out;
  for (const Type& t : node.types) out += (out.empty() ? "" : ", ") + to_string(t);
  return out;
}

void add_node(Drawing& d, const Node& node) {
  const OpInfo& info = op_info(node.op);
  std::string title(node.op == Op::Input ? node.as<InputAttrs>().name : std::string(info.name));
  if (!node.subgraphs.empty()) title += fmt::format(" ({} bodies)", node.subgraphs.size());
  std::string tooltip = fmt::format("{} {}\n{}", info.name, print_attrs(node.attrs), types_text(node));
  if (!node.origin.empty()) tooltip += "\n" + node.origin;
  add_box(d, {shortened(std::move(title)), shortened(types_text(node)), std::move(tooltip), colour_of(info)});
}

Drawing make_drawing(const Graph& graph) {
  Drawing d;
  std::vector<size_t> box_of(graph.nodes().size(), SIZE_MAX);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op == Op::Constant) continue;
    box_of[i] = d.boxes.size();
    add_node(d, node);
    for (const Value v : node.operands)
      if (!v.is_none() && box_of[static_cast<size_t>(v.node)] != SIZE_MAX)
        d.layout.edges.push_back({box_of[static_cast<size_t>(v.node)], box_of[i], {}});
  }
  for (const Port& p : graph.outputs()) {
    const size_t from = box_of[static_cast<size_t>(p.value.node)];
    if (from != SIZE_MAX) d.layout.edges.push_back({from, d.boxes.size(), {}});
    add_box(d, {shortened(p.name), shortened(to_string(graph.type(p.value))), "output " + p.name, "#b6d7a8"});
  }
  return d;
}

double row_y(int row) { return kMargin + kRowHeight * row; }

std::string draw_edge(const Layout& layout, const LayoutEdge& e) {
  const LayoutBox &from = layout.boxes[e.from], &to = layout.boxes[e.to];
  double x = from.x + kMargin, y = row_y(from.row) + kBoxHeight;
  std::string out = fmt::format("<path d=\"M{:.1f} {:.1f}", x, y);
  const auto curve = [&](double next_x, double next_y) {
    const double middle = (y + next_y) / 2;
    out +=
        fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", x, middle, next_x, middle, next_x, next_y);
    x = next_x;
    y = next_y;
  };
  int row = from.row;
  for (double bend : e.bends) {
    curve(bend + kMargin, row_y(++row));
    y += kBoxHeight;
    out += fmt::format("V{:.1f}", y);
  }
  curve(to.x + kMargin, row_y(to.row) - 2);
  return out + "\"/>\n";
}

std::string draw_box(const Drawing::Box& box, const LayoutBox& at) {
  const double x = at.x + kMargin, y = row_y(at.row);
  return fmt::format(
      "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"4\" "
      "fill=\"{}\"/>"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"op\">{}</text><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
      escaped(box.tooltip), x - at.width / 2, y, at.width, kBoxHeight, box.colour, x, y + 14,
      escaped(box.title), x, y + 27, escaped(box.detail));
}

}  // namespace

std::string draw_svg(const Graph& graph) {
  Drawing d = make_drawing(graph);
  place(d.layout, kGap);
  const double width = d.layout.width + 2 * kMargin, height = row_y(d.layout.rows) + kMargin;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\">\n"
      "<title>{2}</title>\n"
      "<style>text{{font:11px sans-serif;text-anchor:middle;fill:#222}} .op{{font-weight:bold}} "
      "rect{{stroke:#666}} path{{fill:none;stroke:#888;marker-end:url(#tip)}}</style>\n"
      "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" "
      "markerHeight=\"6\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" "
      "style=\"fill:#888;stroke:none;marker-end:none\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" style=\"fill:white;stroke:none\"/>\n",
      width, height, escaped(graph.name()));
  for (const LayoutEdge& e : d.layout.edges) out += draw_edge(d.layout, e);
  for (size_t i = 0; i < d.boxes.size(); ++i) out += draw_box(d.boxes[i], d.layout.boxes[i]);
  return out + "</svg>\n";
}

}  // namespace ingot
